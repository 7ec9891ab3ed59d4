package com.example.office;

/** The service under test. Each method stands on another resource. */
public interface Office {

    int seal(int number);

    int file(int number);

    int export(int number);

    int order(int item);

    int mail(int number);
}
