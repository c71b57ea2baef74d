# Draws a transcript of the REPL (a golden file of tests/golden/repl, whose text the tests hold to what the program
# says) as a terminal in SVG: inputs are typed, outputs appear, then the picture stands still. A viewer without
# animations shows the end at once.
#
#   awk -f docs/draw_session.awk tests/golden/repl/first-session.session >docs/session.svg
#
# The test `session_picture` draws it again and compares. All numbers are whole, so every awk draws the same bytes.

BEGIN {
  columns = 110; row_height = 19; top = 64; left = 22
  advance = 78                                  # of a character, in tenths of a pixel
  type_time = 28; longest_typing = 1100         # milliseconds: a character, a line
  think_time = 350; answer_time = 250; line_time = 40
  clock = 600; rows = 0

  ink["plain"] = "#c9d1d9"; ink["prompt"] = "#56d364"; ink["more"] = "#6e7681"; ink["keyword"] = "#ff7b72"
  ink["decorator"] = "#d2a8ff"; ink["name"] = "#d2a8ff"; ink["string"] = "#a5d6ff"; ink["number"] = "#79c0ff"
  ink["operator"] = "#7ee0c8"; ink["error"] = "#ff7b72"; ink["command"] = "#f2cc60"
}

/^>>> / { begun = 1 }
!begun || /^>>> quit$/ { next }  # the head of the file, and the way out

/^>>> / || /^\.\.\.$/ || /^\.\.\. / {
  mark = substr($0, 1, 3)
  text = substr($0, 5)
  clock += mark == ">>>" ? think_time : 0
  colour_span(1, 3, mark == ">>>" ? "prompt" : "more")
  emit(mark, 1, 3, 0, clock, 0)
  colour_code(text)
  if (text ~ /^:/) colour_span(1, length(text), "command")
  took = length(text) * type_time
  if (took > longest_typing) took = longest_typing
  emit(text, 1, length(text), 4, clock, took)
  rows++
  clock += took + 60
  fresh = 1
  next
}

{
  if (fresh) clock += answer_time
  fresh = 0
  if ($0 ~ /error\[/) faulty = 3
  if (faulty > 0) colour_fault($0); else colour_code($0)
  faulty--
  # Longer lines go on in the next row, as on a terminal.
  for (begin = 1; begin == 1 || begin <= length($0); begin += columns) {
    emit($0, begin, begin + columns - 1, 0, clock, 0)
    rows++
    clock += line_time
  }
}

function colour_span(first, last, what,    i) { for (i = first; i <= last; i++) colour[i] = what }

# The message after "error[Class]: " stays plain; the place and the caret are red.
function colour_fault(text) {
  colour_span(1, length(text), "plain")
  if (match(text, /error\[[A-Za-z]+\]:/)) colour_span(1, RSTART + RLENGTH - 1, "error")
  else if (text ~ /^ *\^~*$/) colour_span(1, length(text), "error")
  else colour_code(text)
}

function colour_code(text,    at, rest, word, what, before) {
  at = 1; before = ""
  while (at <= length(text)) {
    rest = substr(text, at)
    if (match(rest, /^"[^"]*"/)) what = "string"
    else if (match(rest, /^@[A-Za-z_.]+/)) what = "decorator"
    else if (match(rest, /^[A-Za-z_][A-Za-z_0-9.]*/)) {
      word = substr(rest, 1, RLENGTH)
      what = "plain"
      if (word ~ /^(class|def|with|return|as|for|in|if|else|while|None|True|False)$/) what = "keyword"
      else if (before ~ /^(class|def)$/) what = "name"
      else if (word ~ /^[RTI]\./) what = "operator"
      before = word
    } else if (match(rest, /^-?[0-9][0-9.]*/)) what = "number"
    else { what = "plain"; RLENGTH = 1 }
    colour_span(at, at + RLENGTH - 1, what)
    at += RLENGTH
  }
}

function escaped(text) {
  gsub(/&/, "\\&amp;", text); gsub(/</, "\\&lt;", text); gsub(/>/, "\\&gt;", text)
  return text
}

function pixels(tenths) { return sprintf("%d.%d", int(tenths / 10), tenths % 10) }
function seconds(milliseconds) { return sprintf("%d.%03ds", int(milliseconds / 1000), milliseconds % 1000) }

# The characters `first` to `last` of a text, in the columns from `column` on of this row, in runs of one colour, each
# at a place of its own, so that the font decides nothing; `took` above 0: typed.
function emit(text, first, last, column, at, took,    from, to, runs, style) {
  if (last > length(text)) last = length(text)
  if (substr(text, first, last - first + 1) !~ /[^ ]/) return
  style = took > 0 ? sprintf("animation:type %s steps(%d) %s both", seconds(took), last - first + 1, seconds(at)) \
                   : sprintf("animation-delay:%s", seconds(at))
  runs = ""
  for (from = first; from <= last; from = to + 1) {
    to = from
    if (substr(text, from, 1) == " ") continue
    while (to < last && (colour[to + 1] == colour[from] || substr(text, to + 1, 1) == " ")) to++
    while (substr(text, to, 1) == " ") to--
    runs = runs sprintf("<tspan x=\"%s\" fill=\"%s\">%s</tspan>", pixels(left * 10 + (column + from - first) * advance),
      ink[colour[from]], escaped(substr(text, from, to - from + 1)))
  }
  drawn = drawn sprintf("<text y=\"%d\" style=\"%s\">%s</text>\n", top + rows * row_height, style, runs)
}

END {
  width = left * 2 + int(columns * advance / 10); height = top + rows * row_height + 8
  printf "<svg xmlns=\"http://www.w3.org/2000/svg\" xml:space=\"preserve\" viewBox=\"0 0 %d %d\" width=\"%d\" height=\"%d\" role=\"img\" aria-label=\"A session of Relish\">\n", width, height, width, height
  print "<!-- Made by docs/draw_session.awk from tests/golden/repl/first-session.session. -->"
  print "<style>"
  print "text { font: 13px 'DejaVu Sans Mono', Menlo, Consolas, 'Liberation Mono', monospace; animation: show 1ms both; }"
  print "@keyframes show { from { opacity: 0; } }"
  print "@keyframes type { from { clip-path: inset(0 100% 0 0); } to { clip-path: inset(0 0 0 0); } }"
  print "@media (prefers-reduced-motion: reduce) { text { animation: none !important; } }"
  print "</style>"
  printf "<rect width=\"%d\" height=\"%d\" rx=\"9\" fill=\"#0d1117\"/>\n", width, height
  printf "<path d=\"M0 36V9a9 9 0 0 1 9-9H%da9 9 0 0 1 9 9v27z\" fill=\"#1c2230\"/>\n", width - 9
  print "<circle cx=\"22\" cy=\"18\" r=\"6\" fill=\"#ff5f57\"/><circle cx=\"42\" cy=\"18\" r=\"6\" fill=\"#febc2e\"/><circle cx=\"62\" cy=\"18\" r=\"6\" fill=\"#28c840\"/>"
  printf "<text x=\"%d\" y=\"22\" text-anchor=\"middle\" fill=\"#8b949e\" style=\"animation:none\">relish</text>\n", int(width / 2)
  printf "%s", drawn
  print "</svg>"
}
