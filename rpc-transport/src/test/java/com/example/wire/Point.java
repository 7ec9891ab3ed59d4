package com.example.wire;

import java.io.Serializable;

/** A record of the captured calls. */
public record Point(int x, int y) implements Serializable {}
