package tern.rpc.load.attack;

import com.google.protobuf.StringValue;
import tern.rpc.RpcMethod;
import tern.rpc.StreamObserver;

/** The service that the attacked servers offer over gRPC and the dubbo protocol. */
public interface Target {

    /** Returns its argument immediately. */
    StringValue quick(StringValue text);

    /** Answers after ten seconds. */
    StringValue sleep(StringValue text);

    /** Sends messages of 8 KiB until the caller ends the call or grants no more credit. */
    void feed(StringValue text, StreamObserver<StringValue> messages);

    /** Answers with slightly less than 8 MiB, which is the default size limit of a message. */
    StringValue large(StringValue text);

    /** Methods that take and return Java values, for the dubbo protocol. */
    interface Values {

        /** Sleeps for ten seconds. The call is one-way, so no answer is sent. */
        @RpcMethod(oneWay = true)
        void sleepUnanswered(String text);

        /** Answers with slightly less than 8 MiB. */
        String large(String text);

        /** Counts the entries of a map or the elements of a collection. */
        int count(Object container);
    }
}
