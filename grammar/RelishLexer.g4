// Tokens of one logical line. The scanner (frontend/scanner.h) has cut the line out, so line ends inside it are
// blanks, and it hands over a long list of plain numbers as the single character U+0001.
lexer grammar RelishLexer;

AND: 'and';
AS: 'as';
ASSERT: 'assert';
BREAK: 'break';
CLASS: 'class';
CONTINUE: 'continue';
DEF: 'def';
DEL: 'del';
ELIF: 'elif';
ELSE: 'else';
FALSE: 'False';
FOR: 'for';
FROM: 'from';
IF: 'if';
IMPORT: 'import';
IN: 'in';
IS: 'is';
LAMBDA: 'lambda';
NONE: 'None';
NOT: 'not';
OR: 'or';
PASS: 'pass';
RETURN: 'return';
TRUE: 'True';
WHILE: 'while';
WITH: 'with';

NAME: [a-zA-Z_] [a-zA-Z_0-9]*;

// What a name stood for behind an input of a session: M@12.
STATE_NAME: [a-zA-Z_] [a-zA-Z_0-9]* '@' [0-9]+;

// A value that is still to be written: ?a.
HOLE: '?' [a-zA-Z_] [a-zA-Z_0-9]*;

NUMBER
    : '0' [xX] [0-9a-fA-F_]+
    | '0' [bB] [01_]+
    | '0' [oO] [0-7_]+
    | Digits ('.' Digits?)? Exponent?
    | '.' Digits Exponent?
    ;

STRING
    : Prefix? '"""' ('\\' . | ~'\\')*? '"""'
    | Prefix? '\'\'\'' ('\\' . | ~'\\')*? '\'\'\''
    | Prefix? '"' ('\\' . | ~["\\])* '"'
    | Prefix? '\'' ('\\' . | ~['\\])* '\''
    ;

NUMBER_LIST: '\u0001';

ADD_ASSIGN: '+=';
SUB_ASSIGN: '-=';
MUL_ASSIGN: '*=';
DIV_ASSIGN: '/=';
FLOOR_DIV_ASSIGN: '//=';
MOD_ASSIGN: '%=';
POW_ASSIGN: '**=';
AND_ASSIGN: '&=';
OR_ASSIGN: '|=';
XOR_ASSIGN: '^=';
LEFT_ASSIGN: '<<=';
RIGHT_ASSIGN: '>>=';
AT_ASSIGN: '@=';
WALRUS: ':=';
ARROW: '->';
POW: '**';
FLOOR_DIV: '//';
LEFT: '<<';
RIGHT: '>>';
LE: '<=';
GE: '>=';
EQ: '==';
NE: '!=';
ELLIPSIS: '...';
ADD: '+';
SUB: '-';
MUL: '*';
DIV: '/';
MOD: '%';
AT: '@';
AMPERSAND: '&';
BAR: '|';
CARET: '^';
TILDE: '~';
LT: '<';
GT: '>';
LPAREN: '(';
RPAREN: ')';
LBRACKET: '[';
RBRACKET: ']';
LBRACE: '{';
RBRACE: '}';
COMMA: ',';
COLON: ':';
DOT: '.';
SEMICOLON: ';';
ASSIGN: '=';

BLANK: [ \t\f\r\n]+ -> skip;
CONTINUATION: '\\' '\r'? '\n' -> skip;
COMMENT: '#' ~[\r\n]* -> skip;
// Left for the parser to refuse.
UNKNOWN: .;

fragment Digits: [0-9] [0-9_]*;
fragment Exponent: [eE] [+-]? Digits;
fragment Prefix: [rRbBuUfF] [rRbBfF]?;
