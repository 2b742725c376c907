//! Shell texts and what is read in them.
