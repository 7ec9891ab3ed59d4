package com.example.office;

/** A remote service that the implementation of {@link Office} calls. */
public interface Store {

    int stock(int item);
}
