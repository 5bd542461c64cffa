// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package sshrun

import "time"

// limits are the times that the program waits for an SSH server.
type limits struct {
	// handshake is for a connection with its login, and retry is the pause before the next attempt.
	handshake, retry time.Duration
	// open is for the start of a script. begin is for its report that the command has started.
	open, begin time.Duration
	// alive is the interval of the checks that the server still responds. It has the same time to respond.
	alive time.Duration
	// lost is for a server that does not respond after the connection was lost, and poll the pause between two looks.
	lost, poll time.Duration
	// signal is for the script that sends a signal, and confirm for the end of the command after SIGKILL.
	signal, confirm time.Duration
	// drain is for the last output after the command has ended.
	drain time.Duration
	// slack is the largest expected difference between the clocks of two nodes of the cluster.
	slack time.Duration
}

func usual() limits {
	return limits{
		handshake: 20 * time.Second, retry: 5 * time.Second,
		open: 20 * time.Second, begin: time.Minute,
		alive: 15 * time.Second,
		lost:  2 * time.Minute, poll: 5 * time.Second,
		signal: 5 * time.Second, confirm: 6 * time.Second,
		drain: time.Second,
		slack: time.Minute,
	}
}

const (
	// maxKeys is the maximum size of the private key and of the host keys. A Secret cannot be larger.
	maxKeys = 1 << 20
	// maxReport is the maximum length of a report, and maxNoise that of all other text beside the output.
	maxReport, maxNoise = 512, 1 << 20
)
