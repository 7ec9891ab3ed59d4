package tern.rpc.load.attack;

import com.google.protobuf.StringValue;
import tern.rpc.RpcMethod;
import tern.rpc.StreamObserver;

/** What the attacked servers serve, over gRPC and dubbo. */
public interface Target {

    /** Answers at once with the same text. */
    StringValue quick(StringValue text);

    /** Answers after ten seconds. */
    StringValue sleep(StringValue text);

    /** Sends messages of 8 KiB until the caller leaves or cannot take more. */
    void feed(StringValue text, StreamObserver<StringValue> messages);

    /** Answers with 8 MiB less a few bytes, which is what a message may have. */
    StringValue large(StringValue text);

    /** Methods of Java values, for the dubbo protocol. */
    interface Values {

        /** Sleeps for ten seconds. Nobody is answered. */
        @RpcMethod(oneWay = true)
        void sleepUnanswered(String text);

        /** Answers with 8 MiB less a few bytes. */
        String large(String text);

        /** Counts the entries of a map, or the elements of a collection. */
        int count(Object container);
    }
}
