// One logical line: a simple statement, a decorator, or the header of a block. Operators form a flat list whose
// precedence the reader resolves (frontend/operators.h), so that a sum of 100,000 terms costs a loop and no stack, and
// every decision here needs one token of lookahead.
parser grammar RelishParser;

options {
    tokenVocab = RelishLexer;
}

// --- Entry rules.

simpleLine: simpleStatement SEMICOLON? EOF;

decoratorLine: AT expression EOF;

headerLine: header EOF;

// A field of an f-string.
expressionLine: expressionList EOF;

// --- Statements.

simpleStatement
    : passStatement
    | breakStatement
    | continueStatement
    | returnStatement
    | assertStatement
    | delStatement
    | importStatement
    | assignment
    ;

passStatement: PASS;

breakStatement: BREAK;

continueStatement: CONTINUE;

returnStatement: RETURN expressionList?;

assertStatement: ASSERT expression (COMMA expression)?;

delStatement: DEL expressionList;

importStatement
    : IMPORT importedModule (COMMA importedModule)*
    | FROM dottedName IMPORT (MUL | importedNames | LPAREN importedNames COMMA? RPAREN)
    ;

importedModule: dottedName (AS NAME)?;

importedNames: importedName (COMMA importedName)*;

importedName: NAME (AS NAME)?;

dottedName: DOT* NAME (DOT NAME)*;

// An expression statement is an assignment without a tail.
assignment
    : expressionList (COLON expression (ASSIGN expressionList)? | augmentation expressionList | (ASSIGN expressionList)+)?
    ;

augmentation
    : ADD_ASSIGN
    | SUB_ASSIGN
    | MUL_ASSIGN
    | DIV_ASSIGN
    | FLOOR_DIV_ASSIGN
    | MOD_ASSIGN
    | POW_ASSIGN
    | AND_ASSIGN
    | OR_ASSIGN
    | XOR_ASSIGN
    | LEFT_ASSIGN
    | RIGHT_ASSIGN
    | AT_ASSIGN
    ;

// --- Headers of blocks.

header: classHeader | defHeader | withHeader | forHeader | whileHeader | ifHeader | elifHeader | elseHeader;

classHeader: CLASS NAME typeParameters? (LPAREN arguments? RPAREN)? COLON;

defHeader: DEF NAME typeParameters? LPAREN parameters? RPAREN (ARROW expression)? COLON;

typeParameters: LBRACKET typeParameter (COMMA typeParameter)* COMMA? RBRACKET;

typeParameter: NAME (COLON expression)?;

parameters: parameter (COMMA parameter)* COMMA?;

parameter: (MUL | POW)? NAME (COLON expression)? (ASSIGN expression)? | MUL | DIV;

withHeader: WITH withItem (COMMA withItem)* COLON;

withItem: expression (AS target)?;

forHeader: FOR targets IN expressionList COLON;

whileHeader: WHILE expression COLON;

ifHeader: IF expression COLON;

elifHeader: ELIF expression COLON;

elseHeader: ELSE COLON;

targets: target (COMMA target)* COMMA?;

target: MUL? primary;

// --- Expressions.

expressionList: listItem (COMMA listItem)* COMMA?;

listItem: MUL? expression;

expression: operation (IF operation ELSE operation)* | lambda;

lambda: LAMBDA lambdaParameters? COLON expression;

lambdaParameters: lambdaParameter (COMMA lambdaParameter)* COMMA?;

lambdaParameter: (MUL | POW)? NAME (ASSIGN expression)? | MUL | DIV;

operation: prefix* primary (infix prefix* primary)*;

prefix: ADD | SUB | TILDE | NOT;

infix
    : ADD
    | SUB
    | MUL
    | DIV
    | FLOOR_DIV
    | MOD
    | AT
    | POW
    | LEFT
    | RIGHT
    | AMPERSAND
    | BAR
    | CARET
    | LT
    | GT
    | LE
    | GE
    | EQ
    | NE
    | AND
    | OR
    | IN
    | IS
    | NOT IN
    ;

primary: atom trailer*;

trailer: LPAREN arguments? RPAREN | LBRACKET subscripts RBRACKET | DOT NAME;

arguments: argument (COMMA argument)* COMMA?;

// The left side of '=' must be a name; the reader checks it.
argument: (MUL | POW)? expression (ASSIGN expression | comprehension)?;

subscripts: subscript (COMMA subscript)* COMMA?;

subscript: expression slice? | slice;

slice: COLON expression? (COLON expression?)?;

atom
    : NAME
    | STATE_NAME
    | HOLE
    | NUMBER
    | STRING+
    | NUMBER_LIST
    | TRUE
    | FALSE
    | NONE
    | ELLIPSIS
    | LPAREN (listItem (comprehension | (COMMA listItem)* COMMA?))? RPAREN
    | LBRACKET (listItem (comprehension | (COMMA listItem)* COMMA?))? RBRACKET
    | LBRACE (dictItem (comprehension | (COMMA dictItem)* COMMA?))? RBRACE
    ;

dictItem: POW expression | expression (COLON expression)?;

// Those of generators are read so that they can be refused by name.
comprehension: (FOR targets IN operation (IF operation)*)+;
