package com.example.wire;

/** An enum that the captured calls use. */
public enum Color {
    RED,
    GREEN
}
