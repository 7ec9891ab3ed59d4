package com.example.wire;

/** An enum of the captured calls. */
public enum Color {
    RED,
    GREEN
}
