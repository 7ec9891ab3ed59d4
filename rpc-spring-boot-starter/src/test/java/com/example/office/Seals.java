package com.example.office;

/** Hands out seals, one after another. */
class Seals {

    private int last;

    synchronized int next(int number) {
        Fault.LOCK.pauseIfPlanted();
        return last = number;
    }
}
