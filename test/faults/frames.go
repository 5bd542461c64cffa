// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"encoding/json"

	"k8s.io/apimachinery/pkg/watch"
)

// frame is one event of a watch in the form in which the server sent it.
type frame struct {
	kind   watch.EventType
	key    string // key of the object; empty for bookmarks and errors
	object json.RawMessage
}

func decodeFrame(raw json.RawMessage) (frame, error) {
	in := struct {
		Type   watch.EventType
		Object json.RawMessage
	}{}
	if err := json.Unmarshal(raw, &in); err != nil {
		return frame{}, err
	}
	f := frame{kind: in.Type, object: in.Object}
	if f.kind == watch.Bookmark || f.kind == watch.Error {
		return f, nil
	}
	meta := struct {
		Metadata struct{ Namespace, Name string }
	}{}
	err := json.Unmarshal(in.Object, &meta)
	f.key = meta.Metadata.Namespace + "/" + meta.Metadata.Name
	return f, err
}

func (f frame) encode() []byte {
	out, err := json.Marshal(map[string]any{"type": f.kind, "object": f.object})
	if err != nil { // cannot fail, because the frame was decoded from JSON
		panic(err)
	}
	return append(out, '\n')
}

// coalesce keeps only the last event of each object, like a list after a broken watch. If an object was created and
// then deleted, the client gets no event for it. If an object was deleted and recreated, the client gets the event that
// the object changed.
func coalesce(frames []frame) []frame {
	first, last := map[string]watch.EventType{}, map[string]int{}
	for i, f := range frames {
		if _, seen := first[f.key]; !seen {
			first[f.key] = f.kind
		}
		last[f.key] = i
	}
	var out []frame
	for i, f := range frames {
		unknown := first[f.key] == watch.Added
		switch {
		case f.key == "": // a bookmark ends the initial list, so always keep bookmarks
		case i != last[f.key], unknown && f.kind == watch.Deleted:
			continue
		case unknown:
			f.kind = watch.Added
		case f.kind != watch.Deleted:
			f.kind = watch.Modified
		}
		out = append(out, f)
	}
	return out
}

// expired returns the error event with which a server ends a watch that it cannot continue. The client then lists all
// objects again.
func expired() frame {
	return frame{kind: watch.Error, object: json.RawMessage(
		`{"kind":"Status","apiVersion":"v1","status":"Failure","code":410,"reason":"Expired","message":"too old resource version"}`)}
}
