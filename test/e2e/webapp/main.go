// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Webapp is a small HTTP server for end-to-end tests. Its response contains its version, its configuration and the
// authenticated user. A request can also make it use CPU time.
package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"log"
	"net/http"
	"os"
	"os/signal"
	"strconv"
	"syscall"
	"time"
)

// Answer is the response to a request for the path /.
type Answer struct {
	Version  string `json:"version"`  // set when the binary is built
	Greeting string `json:"greeting"` // from an environment variable
	Config   string `json:"config"`   // content of the mounted configuration file
	User     string `json:"user"`     // user that the proxy authenticated
	Password bool   `json:"password"` // whether the request contained the password, which the proxy must remove
	Pod      string `json:"pod"`
}

var version = "1"

func main() {
	http.HandleFunc("GET /{$}", tell)
	http.HandleFunc("GET /burn", burn)
	server := &http.Server{Addr: ":" + cmp.Or(os.Getenv("PORT"), "8080"), ReadHeaderTimeout: 10 * time.Second}
	ctx, cancel := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	defer cancel()
	go func() {
		if err := server.ListenAndServe(); !errors.Is(err, http.ErrServerClosed) {
			log.Fatal(err)
		}
	}()
	<-ctx.Done()
	last, stop := context.WithTimeout(context.Background(), 20*time.Second)
	defer stop()
	if err := server.Shutdown(last); err != nil {
		log.Print(err)
	}
}

func tell(w http.ResponseWriter, r *http.Request) {
	config, err := os.ReadFile("/etc/microservice/config.properties")
	if err != nil {
		config = nil
	}
	name, _ := os.Hostname()
	w.Header().Set("Content-Type", "application/json")
	if err := json.NewEncoder(w).Encode(Answer{
		Version: cmp.Or(os.Getenv("VERSION"), version), Greeting: os.Getenv("GREETING"), Config: string(config),
		User: r.Header.Get("X-Forwarded-User"), Password: r.Header.Get("Authorization") != "", Pod: name,
	}); err != nil {
		log.Print(err)
	}
}

// burn keeps one CPU busy for the requested number of milliseconds.
func burn(w http.ResponseWriter, r *http.Request) {
	ms, err := strconv.Atoi(r.URL.Query().Get("ms"))
	if err != nil || ms < 0 || ms > 10_000 {
		http.Error(w, "ms: a number from 0 to 10000", http.StatusBadRequest)
		return
	}
	for end := time.Now().Add(time.Duration(ms) * time.Millisecond); time.Now().Before(end); {
	}
}
