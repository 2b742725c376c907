#!/bin/sh
# Passes while the greeting says hello. Words of the shell alone: there is nothing to install.
read -r line < greeting.txt
case $line in
  Hello*) echo "1 test passed" ;;
  *) echo "1 test failed"; exit 1 ;;
esac
