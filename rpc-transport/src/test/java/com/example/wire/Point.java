package com.example.wire;

import java.io.Serializable;

/** A record that the captured calls use. */
public record Point(int x, int y) implements Serializable {}
