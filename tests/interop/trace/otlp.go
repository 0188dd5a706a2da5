// Reads spans of PHI_TRACE_OTEL by the collector's own reader, and compares what it has with what stands in the file, with the
// ids that the documents of the sessions give, and with the story that prog_trace.c tells.
//
//	otlp STORY.json MORE.json...
package main

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"strconv"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"
)

type value struct {
	StringValue *string `json:"stringValue"`
	IntValue    *string `json:"intValue"`
	ArrayValue  *struct {
		Values []value `json:"values"`
	} `json:"arrayValue"`
}

type attribute struct {
	Key   string `json:"key"`
	Value value  `json:"value"`
}

type written struct {
	TraceID, SpanID, ParentSpanID, Name string
	Kind                                int32
	StartTimeUnixNano, EndTimeUnixNano  string
	Attributes                          []attribute
	Status                              struct {
		Code    int32
		Message string
	}
	Links []struct{ TraceID, SpanID string }
}

var passed, failed int

func check(held bool, what string, args ...any) {
	if held {
		passed++
		return
	}
	failed++
	fmt.Printf("FAIL "+what+"\n", args...)
}

func hashed(n int, words ...string) string {
	sha := sha256.New()
	for _, word := range words {
		sha.Write(append([]byte(word), 0))
	}
	return hex.EncodeToString(sha.Sum(nil)[:n])
}

func attributes(name string, want []attribute, got pcommon.Map) {
	check(got.Len() == len(want), "%s: %d attributes, %d in the file", name, got.Len(), len(want))
	for _, a := range want {
		v, has := got.Get(a.Key)
		switch {
		case !has:
			check(false, "%s: no %s", name, a.Key)
		case a.Value.IntValue != nil:
			check(v.Type() == pcommon.ValueTypeInt && strconv.FormatInt(v.Int(), 10) == *a.Value.IntValue, "%s: %s", name, a.Key)
		case a.Value.ArrayValue != nil:
			check(v.Type() == pcommon.ValueTypeSlice && v.Slice().Len() == len(a.Value.ArrayValue.Values), "%s: %s", name, a.Key)
		default:
			check(v.Type() == pcommon.ValueTypeStr && v.Str() == *a.Value.StringValue, "%s: %s", name, a.Key)
		}
	}
}

func read(path string) ([]written, []ptrace.Span) {
	var file struct {
		ResourceSpans []struct {
			ScopeSpans []struct{ Spans []written }
		}
	}
	bytes, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(bytes, &file)
	}
	if err != nil {
		fmt.Println(path, err)
		os.Exit(1)
	}
	traces, err := (&ptrace.JSONUnmarshaler{}).UnmarshalTraces(bytes)
	check(err == nil, "%s: %v", path, err)
	if err != nil {
		return nil, nil
	}
	check(traces.ResourceSpans().Len() == 1, "%s: one resource", path)
	scope := traces.ResourceSpans().At(0).ScopeSpans().At(0)
	check(scope.Scope().Name() == "phi", "%s: the scope is %q", path, scope.Scope().Name())
	var spans []ptrace.Span
	for i := 0; i < scope.Spans().Len(); i++ {
		spans = append(spans, scope.Spans().At(i))
	}
	return file.ResourceSpans[0].ScopeSpans[0].Spans, spans
}

func compare(path string, want []written, got []ptrace.Span) {
	check(len(want) == len(got), "%s: %d spans, %d in the file", path, len(got), len(want))
	ids := map[string]string{}
	for _, span := range got {
		ids[span.SpanID().String()] = span.TraceID().String()
	}
	check(len(ids) == len(got), "%s: an id twice", path)
	for i, w := range want {
		g := got[i]
		name := path + ": " + w.Name
		check(g.TraceID().String() == w.TraceID && len(w.TraceID) == 32, "%s: trace id", name)
		check(g.SpanID().String() == w.SpanID && len(w.SpanID) == 16, "%s: span id", name)
		check(g.ParentSpanID().String() == w.ParentSpanID, "%s: parent", name)
		check(w.ParentSpanID == "" || ids[w.ParentSpanID] == w.TraceID, "%s: the parent is of another trace", name)
		check(g.Name() == w.Name && int32(g.Kind()) == w.Kind, "%s: name or kind", name)
		check(strconv.FormatUint(uint64(g.StartTimestamp()), 10) == w.StartTimeUnixNano, "%s: start", name)
		check(strconv.FormatUint(uint64(g.EndTimestamp()), 10) == w.EndTimeUnixNano, "%s: end", name)
		check(g.StartTimestamp() <= g.EndTimestamp(), "%s: it ends before it starts", name)
		check(int32(g.Status().Code()) == w.Status.Code && g.Status().Message() == w.Status.Message, "%s: status", name)
		check(g.Links().Len() == len(w.Links), "%s: links", name)
		attributes(name, w.Attributes, g.Attributes())
	}
}

// The ids are those that docs/trace.md describes, and the tree is the story's.
func story(spans []ptrace.Span) {
	run := hashed(8, "run", "s-81", "s-81.m.1")
	trace := hashed(16, "trace", "s-81", "s-81.m.1")
	call := hashed(8, "call", "s-81", "s-81.m.1", "8.1")
	child := hashed(8, "run", "child-1", "child-1.sub.1")
	parents := map[string]string{
		run: "", call: run, child: call,
		hashed(8, "chat", "s-81", "s-81.m.1", "2.0"):         run,
		hashed(8, "chat", "s-81", "s-81.m.1", "17.0"):        run,
		hashed(8, "call", "s-81", "s-81.m.1", "13.2"):        run,
		hashed(8, "chat", "child-1", "child-1.sub.1", "7.0"): child,
		hashed(8, "call", "child-1", "child-1.sub.1", "3.2"): child,
	}
	found := 0
	for _, span := range spans {
		parent, known := parents[span.SpanID().String()]
		if !known {
			continue
		}
		found++
		check(span.ParentSpanID().String() == parent, "story: parent of %s", span.Name())
		check(span.TraceID().String() == trace, "story: trace of %s", span.Name())
	}
	check(found == len(parents), "story: %d of %d ids", found, len(parents))
	check(len(spans) == 23, "story: %d spans", len(spans))
}

func main() {
	for i, path := range os.Args[1:] {
		want, got := read(path)
		compare(path, want, got)
		if i == 0 {
			story(got)
		}
	}
	fmt.Printf("OTLP, read by the collector: %d passed, %d failed\n", passed, failed)
	if failed > 0 {
		os.Exit(1)
	}
}
