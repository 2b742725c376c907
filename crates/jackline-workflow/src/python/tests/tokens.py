"""Writes the tokens of each source, as Python sees them, or null for a source that it refuses."""

import ast
import io
import json
import sys
import tokenize
import warnings

warnings.simplefilter("ignore")
OPENING = {getattr(tokenize, name, None) for name in ("FSTRING_START", "TSTRING_START")} - {None}
CLOSING = {getattr(tokenize, name, None) for name in ("FSTRING_END", "TSTRING_END")} - {None}
NAMED = {tokenize.NEWLINE: "newline", tokenize.INDENT: "indent", tokenize.DEDENT: "dedent"}
SILENT = {tokenize.COMMENT, tokenize.NL, tokenize.ENCODING, tokenize.ENDMARKER}


def value(literal):
    """What a text says; nothing for bytes, formatted texts and halves of surrogate pairs."""
    try:
        text = ast.literal_eval(literal)
        return text if isinstance(text, str) and text.encode() is not None else None
    except (ValueError, SyntaxError, UnicodeEncodeError):
        return None


def tokens(source):
    depth = 0
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        line, column = token.start[0], token.start[1] + 1
        if token.type in OPENING:
            depth += 1
            if depth == 1:
                yield [["text", line, column], None]
        elif token.type in CLOSING:
            depth -= 1
        elif depth or token.type in SILENT:
            continue
        elif token.type in NAMED:
            yield [[NAMED[token.type]], None]
        elif token.type == tokenize.STRING:
            yield [["text", line, column], value(token.string)]
        else:
            yield [[token.string, line, column], None]


for source in json.load(sys.stdin):
    source = source.removeprefix("\ufeff")
    try:
        ast.parse(source)
        print(json.dumps(list(tokens(source))))
    except (SyntaxError, ValueError, tokenize.TokenError):
        print("null")
