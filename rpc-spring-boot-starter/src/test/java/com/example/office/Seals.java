package com.example.office;

/** A lock-protected resource of the application: issues seals to one caller at a time. */
class Seals {

    private int last;

    synchronized int next(int number) {
        Fault.LOCK.pauseIfInjected();
        return last = number;
    }
}
