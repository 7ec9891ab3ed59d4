package tern.rpc.load.attack;

import com.google.protobuf.StringValue;
import java.io.Serializable;
import java.util.List;
import java.util.concurrent.Flow;
import tern.rpc.RpcMethod;
import tern.rpc.StreamObserver;

/** The service that the attacked servers offer over gRPC and the dubbo protocol. */
public interface Target {

    /** Returns its argument immediately. */
    StringValue quick(StringValue text);

    /** Answers after ten seconds. */
    StringValue sleep(StringValue text);

    /** Sends messages of 8 KiB until the caller ends the call or no longer enlarges its flow-control window. */
    void feed(StringValue text, StreamObserver<StringValue> messages);

    /** Sends twenty messages of 8 KiB. */
    void pages(StringValue text, StreamObserver<StringValue> messages);

    /**
     * Sends messages of slightly less than 1 MiB until the caller ends the call or no longer enlarges its flow-control
     * window.
     */
    void blocks(StringValue text, StreamObserver<StringValue> messages);

    /**
     * Sends messages of one character, each after a pause, until the caller ends the call or no longer enlarges its
     * flow-control window.
     */
    void drips(StringValue text, StreamObserver<StringValue> messages);

    /** Publishes messages of 8 KiB when the caller requests them, until the caller ends the call. */
    Flow.Publisher<StringValue> published(StringValue text);

    /** Receives a stream of messages, and takes half a second for each. Answers with the number of messages. */
    StreamObserver<StringValue> collect(StreamObserver<StringValue> number);

    /** Answers with slightly less than 8 MiB, which is the default size limit of a message. */
    StringValue large(StringValue text);

    /** Methods that take and return Java values, for the dubbo protocol. */
    interface Values {

        /** Sleeps for ten seconds. The call is one-way, so no answer is sent. */
        @RpcMethod(oneWay = true)
        void sleepUnanswered(String text);

        /** Answers with slightly less than 8 MiB. */
        String large(String text);

        /** Creates a string of the given number of characters. */
        String built(int length);

        /** Creates a list of the given number of objects. */
        List<Item> list(int size);

        /** Counts the entries of a map or the elements of a collection. */
        int count(Object container);
    }
    /** A small object. A result can contain many of these objects. */
    record Item(String name, int price, long sold) implements Serializable {}
}
