// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package v1

import (
	"strconv"
	"time"
)

// Age is a time span in whole hours or days, such as 720h or 90d; at most 10 years.
// +kubebuilder:validation:MaxLength=6
// +kubebuilder:validation:XValidation:rule="self.matches('^[1-9][0-9]{0,4}h$') && int(self.substring(0, self.size() - 1)) <= 87600 || self.matches('^[1-9][0-9]{0,3}d$') && int(self.substring(0, self.size() - 1)) <= 3650",message="an age must be a whole number of hours or days up to 10 years, such as 720h or 90d"
type Age string

// Duration returns the age as a Go duration; 0 if the text is not a valid age.
func (a Age) Duration() time.Duration {
	if len(a) < 2 {
		return 0
	}
	unit := map[byte]time.Duration{'h': time.Hour, 'd': 24 * time.Hour}[a[len(a)-1]]
	n, err := strconv.ParseUint(string(a[:len(a)-1]), 10, 17)
	if err != nil || unit == 0 {
		return 0
	}
	return time.Duration(n) * unit
}
