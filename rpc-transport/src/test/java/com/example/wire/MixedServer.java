package com.example.wire;

import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;

/** Implements the methods by returning their arguments. */
public class MixedServer implements MixedService {

    public final BlockingQueue<Mixed> taken = new LinkedBlockingQueue<>();

    @Override
    public Small small(Small small) {
        return small;
    }

    @Override
    public Mixed make() {
        return Mixed.some();
    }

    @Override
    public void take(Mixed mixed) {
        taken.add(mixed);
    }

    @Override
    public short shorts(byte one, short other) {
        return (short) (one + other);
    }

    @Override
    public float floats(float one, char letter) {
        return one + letter;
    }
}
