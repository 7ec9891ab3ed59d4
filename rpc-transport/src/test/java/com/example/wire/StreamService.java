package com.example.wire;

import tern.rpc.StreamObserver;

/** The streams of the captured calls. */
public interface StreamService {

    /** Sends s0, s1 and s2. */
    void serverStream(String s, StreamObserver<String> out);

    /** Sends one item, then fails. */
    void serverStreamFail(String s, StreamObserver<String> out);

    /** Sends each person back. */
    StreamObserver<Person> biStream(StreamObserver<Person> out);
}
