// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package machineorder

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// EncodeOrder returns the value of OrderAnnotation. It returns an error if the order is invalid.
func EncodeOrder(o Order) (string, error) {
	if err := o.Check(); err != nil {
		return "", err
	}
	return encode(o, MaxOrder)
}

// ParseOrder parses the value of OrderAnnotation. It refuses unknown fields, because a host that ignored one would
// carry out the order only in part.
func ParseOrder(text string) (Order, error) {
	var o Order
	if err := decode(text, MaxOrder, true, &o); err != nil {
		return Order{}, fmt.Errorf("the order cannot be read: %w", err)
	}
	if err := o.Check(); err != nil {
		return Order{}, fmt.Errorf("the order is invalid: %w", err)
	}
	return o, nil
}

// EncodeReport returns the value of ReportAnnotation. It returns an error if the report is invalid.
func EncodeReport(r Report) (string, error) {
	if err := r.check(); err != nil {
		return "", err
	}
	return encode(r, MaxReport)
}

// ParseReport parses the value of ReportAnnotation. It ignores unknown fields, because an operator must understand
// agents of later versions.
func ParseReport(text string) (Report, error) {
	var r Report
	if err := decode(text, MaxReport, false, &r); err != nil {
		return Report{}, fmt.Errorf("the report cannot be read: %w", err)
	}
	if err := r.check(); err != nil {
		return Report{}, fmt.Errorf("the report is invalid: %w", err)
	}
	return r, nil
}

func encode(value any, limit int) (string, error) {
	text, err := json.Marshal(value)
	if err == nil && len(text) > limit {
		err = fmt.Errorf("%d bytes, but at most %d fit", len(text), limit)
	}
	return string(text), err
}

func decode(text string, limit int, strict bool, into any) error {
	if len(text) > limit {
		return fmt.Errorf("it has %d bytes, but at most %d are read", len(text), limit)
	}
	if !utf8.ValidString(text) {
		return errors.New("it is not valid UTF-8")
	}
	decoder := json.NewDecoder(strings.NewReader(text))
	if strict {
		decoder.DisallowUnknownFields()
	}
	if err := decoder.Decode(into); err != nil {
		return err
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return errors.New("there is text after it")
	}
	return nil
}
