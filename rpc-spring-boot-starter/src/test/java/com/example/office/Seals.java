package com.example.office;

/** Issues seals to one caller at a time. */
class Seals {

    private int last;

    synchronized int next(int number) {
        Fault.LOCK.pauseIfInjected();
        return last = number;
    }
}
