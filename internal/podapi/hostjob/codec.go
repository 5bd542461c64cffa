// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package hostjob

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode/utf8"
)

const (
	// MaxOrder is the maximum size of an encoded order in bytes. An order is stored in an annotation, and all
	// annotations of a pod together may have 256 KiB.
	MaxOrder = 240 << 10
	// MaxArgument is the maximum length of an argument, or of a variable with its name, in bytes. Linux does not
	// execute a program with a longer one.
	MaxArgument = 128<<10 - 1
)

// EncodeOrder returns an order (the description of a command) as JSON, for ParseOrder. It returns an error if the order
// is invalid.
func EncodeOrder(o Order) (string, error) {
	if err := o.Check(); err != nil {
		return "", err
	}
	var out strings.Builder
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false) // shell commands often contain < > &, and escapes would need more space
	if err := encoder.Encode(o); err != nil {
		return "", fmt.Errorf("encode the order: %w", err)
	}
	text := strings.TrimSuffix(out.String(), "\n")
	if len(text) > MaxOrder {
		return "", tooLong(len(text))
	}
	return text, nil
}

// ParseOrder parses an order. It refuses unknown fields, because ignoring one could carry out the order only in part.
func ParseOrder(text []byte) (Order, error) {
	switch {
	case len(text) > MaxOrder:
		return Order{}, tooLong(len(text))
	case !utf8.Valid(text):
		return Order{}, errors.New("the order is not valid UTF-8, so the command would run differently from how it was written")
	}
	o := NewOrder("", 0, time.Time{})
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&o); err != nil {
		return Order{}, fmt.Errorf("this version cannot read the order: %w", err)
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return Order{}, errors.New("there is text after the order")
	}
	o.fill()
	return o, o.Check()
}

func tooLong(length int) error {
	return fmt.Errorf("the order has %d bytes, but at most %d fit: put long texts into a file on the host", length, MaxOrder)
}

// fill sets empty fields to their defaults.
func (o *Order) fill() {
	if o.User == "" {
		o.User = defaultUser
	}
	if o.Dir == "" {
		o.Dir = defaultDir
	}
}
