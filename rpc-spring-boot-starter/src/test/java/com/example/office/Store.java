package com.example.office;

/** A service that the office calls. */
public interface Store {

    int stock(int item);
}
