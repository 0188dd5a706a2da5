// Holds phi's reading of command lines against that of mvdan.cc/sh/v3: no command word that it sees
// may be missing from ours, unless ours says that the line is unknown.
//
//	main PROGRAM COMMANDS.TXT MUTATIONS SEED
//
// PROGRAM is prog_shell. The lines of the table come first, then mutations of them. Lines that the
// oracle refuses are no check: others are made. Exit code 1 where a word is missing.
package main

import (
	"bufio"
	"bytes"
	"encoding/hex"
	"fmt"
	"math/rand"
	"os"
	"os/exec"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// The text of a word, where it is certain before the line runs.
func literal(word *syntax.Word) (string, bool) {
	var out strings.Builder
	for _, part := range word.Parts {
		switch p := part.(type) {
		case *syntax.Lit:
			out.WriteString(unescape(p.Value, ""))
		case *syntax.SglQuoted:
			if p.Dollar && strings.Contains(p.Value, "\\") {
				return "", false
			}
			out.WriteString(p.Value)
		case *syntax.DblQuoted:
			for _, inner := range p.Parts {
				lit, ok := inner.(*syntax.Lit)
				if !ok {
					return "", false
				}
				out.WriteString(unescape(lit.Value, "$`\"\\\n"))
			}
		default:
			return "", false
		}
	}
	return out.String(), true
}

// Without the backslashes that protect; only: before these alone (empty: before all).
func unescape(text, only string) string {
	var out strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] == '\\' && i+1 < len(text) && (only == "" || strings.IndexByte(only, text[i+1]) >= 0) {
			i++
			if text[i] == '\n' {
				continue
			}
		}
		out.WriteByte(text[i])
	}
	return out.String()
}

// The names of all commands of a line; false: the oracle refuses it.
func oracle(line string) (names []string, ok bool) {
	defer func() {
		if recover() != nil {
			ok = false
		}
	}()
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(line), "")
	if err != nil {
		return nil, false
	}
	syntax.Walk(file, func(node syntax.Node) bool {
		if call, is := node.(*syntax.CallExpr); is && len(call.Args) > 0 {
			if name, certain := literal(call.Args[0]); certain {
				names = append(names, name)
			}
		}
		return true
	})
	return names, true
}

var pieces = []string{" ", "\n", ";", "&", "|", "&&", "||", "(", ")", "{", "}", "<", ">", ">>", "<<", "<<<", "<(", "$(", "$((", "`", "'", "\"",
	"\\", "$", "${", "#", "!", "*", "?", "[", "]", "[[", "]]", "=", "~", "$'", "((", "))", "if ", "then ", "fi", "for ", "in ", "do ", "done",
	"case ", "esac", ";;", "while ", "function ", "time ", "coproc ", "x=", "rm -rf /", "ls", "EOF", "\nEOF\n", "<<EOF\n", "a[", "]=", "+=", "=(",
	"@(", "2>", "&>", "|&", "\\\n", "\t", "-", "eval ", "é", "$[", "<<-E\n", "<<'E'\n", "\nE\n", "select ", "until ", "else ", "elif ", "$\"", "${x:-", "${#"}

func mutate(r *rand.Rand, lines []string) string {
	line := lines[r.Intn(len(lines))]
	for n := 1 + r.Intn(4); n > 0; n-- {
		at := r.Intn(len(line) + 1)
		switch r.Intn(7) {
		case 0, 1, 2:
			line = line[:at] + pieces[r.Intn(len(pieces))] + line[at:]
		case 3:
			to := at + r.Intn(4)
			if to > len(line) {
				to = len(line)
			}
			line = line[:at] + line[to:]
		case 4:
			other := lines[r.Intn(len(lines))]
			line = line[:at] + other[r.Intn(len(other)+1):]
		case 5:
			around := [][2]string{{"$(", ")"}, {"(", ")"}, {"{ ", "; }"}, {"`", "`"}, {"echo \"$(", ")\""}, {"if ", "; then ls; fi"},
				{"cat <<E\n$(", ")\nE\n"}, {"x=(", ")"}, {"[[ -n $(", ") ]]"}, {"f() { ", "; }"}, {"! ", ""}, {"case x in a) ", ";; esac"},
				{"${x:-$(", ")}"}, {"for i in 1; do ", "; done"}, {"$((1+$(", ")))"}, {"a[$(", ")]=1"}, {"cat <(", ")"}}
			pair := around[r.Intn(len(around))]
			line = pair[0] + line + pair[1]
		case 6:
			joins := []string{";", "&&", "|", "\n", " ", "||", "&", "#"}
			line += joins[r.Intn(len(joins))] + lines[r.Intn(len(lines))]
		}
	}
	return line
}

func table(path string) (lines []string) {
	text, err := os.ReadFile(path)
	if err != nil {
		panic(err)
	}
	for _, line := range strings.Split(string(text), "\n") {
		if len(line) > 7 && line[0] != '#' {
			lines = append(lines, strings.ReplaceAll(line[7:], "<NL>", "\n"))
		}
	}
	return lines
}

type reading struct {
	unknown bool
	names   map[string]bool
}

func ours(program string, lines []string) (out []reading) {
	command := exec.Command(program)
	command.Stdin = bytes.NewReader([]byte(strings.Join(lines, "\x00") + "\x00"))
	command.Stderr = os.Stderr
	text, err := command.Output()
	if err != nil {
		panic(err)
	}
	scanner := bufio.NewScanner(bytes.NewReader(text))
	scanner.Buffer(nil, 1<<24)
	for scanner.Scan() {
		fields := strings.Fields(scanner.Text())
		r := reading{fields[0] == "U", map[string]bool{}}
		for _, field := range fields[1:] {
			name, _ := hex.DecodeString(field[1:])
			r.names[string(name)] = true
		}
		out = append(out, r)
	}
	return out
}

func main() {
	lines := table(os.Args[2])
	base := len(lines)
	count, _ := strconv.Atoi(os.Args[3])
	seed, _ := strconv.ParseInt(os.Args[4], 10, 64)
	r := rand.New(rand.NewSource(seed))
	for tries := 0; len(lines) < base+count && tries < 20*count; tries++ {
		line := mutate(r, lines[:base])
		if _, ok := oracle(line); ok {
			lines = append(lines, line)
		}
	}
	readings := ours(os.Args[1], lines)
	passed, failed, refused, unknown, known := 0, 0, 0, 0, 0
	for i, line := range lines {
		names, ok := oracle(line)
		if !ok {
			refused++
			continue
		}
		missing := ""
		for _, name := range names {
			if !readings[i].unknown && !readings[i].names[name] {
				missing = name
				break
			}
		}
		if readings[i].unknown {
			unknown++
			if i < base {
				fmt.Printf("unknown, of the table: %q\n", line)
			}
		} else {
			known++
		}
		if missing != "" || i >= len(readings) {
			failed++
			if failed <= 20 {
				fmt.Printf("missing %q in %q\n", missing, line)
			}
		} else {
			passed++
		}
	}
	fmt.Printf("%d lines, %d of them the table's: the oracle refuses %d; of the others %d are unknown to phi, %d known\n",
		len(lines), base, refused, unknown, known)
	fmt.Printf("%d passed, %d failed\n", passed, failed)
	if failed > 0 {
		os.Exit(1)
	}
}
