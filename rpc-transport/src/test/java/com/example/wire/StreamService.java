package com.example.wire;

import tern.rpc.StreamObserver;

/** The streams of the captured calls. */
public interface StreamService {

    /** s0, s1, s2. */
    void serverStream(String s, StreamObserver<String> out);

    /** One item, then an error. */
    void serverStreamFail(String s, StreamObserver<String> out);

    /** Answers each person with itself. */
    StreamObserver<Person> biStream(StreamObserver<Person> out);
}
