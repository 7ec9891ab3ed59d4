package com.example.wire;

import tern.rpc.RpcException;
import tern.rpc.StatusCode;
import tern.rpc.StreamObserver;

/** Implements the streams in the same way as the provider of the captured calls. */
public final class StreamServer implements StreamService {

    @Override
    public void serverStream(String s, StreamObserver<String> out) {
        for (int i = 0; i < 3; i++) {
            out.onNext(s + i);
        }
        out.onCompleted();
    }

    @Override
    public void serverStreamFail(String s, StreamObserver<String> out) {
        out.onNext(s);
        out.onError(new RpcException(StatusCode.UNKNOWN, "strm \u00e9 fail"));
    }

    @Override
    public StreamObserver<Person> biStream(StreamObserver<Person> out) {
        return out;
    }
}
