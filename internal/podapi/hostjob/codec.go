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
	// MaxOrder limits an encoded order, in bytes, because all annotations of a pod together may have 256 KiB.
	MaxOrder = 240 << 10
	// MaxArgument limits one argument, and one variable with its name, in bytes, because Linux executes nothing with a
	// longer one.
	MaxArgument = 128<<10 - 1
)

// EncodeOrder returns the text that ParseOrder reads, or an error if the order is invalid.
func EncodeOrder(o Order) (string, error) {
	if err := o.Check(); err != nil {
		return "", err
	}
	var out strings.Builder
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false) // shell text often contains < > &, and escapes need space
	if err := encoder.Encode(o); err != nil {
		return "", fmt.Errorf("encode the order: %w", err)
	}
	text := strings.TrimSuffix(out.String(), "\n")
	if len(text) > MaxOrder {
		return "", tooLong(len(text))
	}
	return text, nil
}

// ParseOrder reads an order. It refuses unknown fields, because an order must not be carried out in part.
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

// fill sets the defaults of empty fields.
func (o *Order) fill() {
	if o.User == "" {
		o.User = defaultUser
	}
	if o.Dir == "" {
		o.Dir = defaultDir
	}
}
