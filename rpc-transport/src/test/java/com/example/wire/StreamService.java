package com.example.wire;

import tern.rpc.StreamObserver;

/** The streaming methods that the captured calls use. */
public interface StreamService {

    /** Sends the messages s0, s1 and s2. */
    void serverStream(String s, StreamObserver<String> out);

    /** Sends one message and then fails. */
    void serverStreamFail(String s, StreamObserver<String> out);

    /** Sends each received person back. */
    StreamObserver<Person> biStream(StreamObserver<Person> out);
}
