package com.example.office;

/** The service under test. Its methods depend on a lock, a database, another service and an executor. */
public interface Office {

    int seal(int number);

    int file(int number);

    int export(int number);

    int order(int item);

    int mail(int number);
}
