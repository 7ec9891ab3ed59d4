package tern.rpc.netty.triple;

import com.google.protobuf.Empty;
import com.google.protobuf.StringValue;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Flow;
import tern.rpc.RpcMethod;
import tern.rpc.StreamObserver;

/** A service for tests of the protocols that browsers and generated clients use. */
interface Words {

    @RpcMethod(readOnly = true)
    StringValue shout(StringValue text);

    /** Returns the same text as {@link #shout}, but uses a Java type instead of a protobuf message. */
    @RpcMethod(readOnly = true)
    String shoutJava(String text);

    /** A method that does not permit GET. */
    StringValue write(StringValue text);

    /** Returns its arguments, which have the same names as Connect's query parameters. */
    @RpcMethod(readOnly = true)
    String echoQuery(String encoding, String message);

    /** Fails with the status that the argument describes: a status code, a space and a description. */
    StringValue fail(StringValue code);

    /** Returns a string of 5 characters, repeated the given number of times. */
    StringValue repeat(StringValue times);

    /**
     * Returns the server's view of the call: protocol, compression, remaining milliseconds and metadata, each on a
     * separate line.
     */
    StringValue describe(Empty nothing);

    /**
     * Succeeds, but sends invalid headers or trailers, depending on the argument: {@code headers} or {@code trailers}.
     */
    StringValue misspell(StringValue where);

    /** Blocks until the call is cancelled. */
    Empty hang(Empty nothing);

    /** Sends the numbers from 1 to the given number. Then fails if a word follows the number in the argument. */
    void count(StringValue upTo, StreamObserver<StringValue> answers);

    /** Returns the concatenation of all received strings. */
    CompletionStage<StringValue> join(Flow.Publisher<StringValue> parts);

    /** Returns each string in upper case as soon as it arrives. */
    StreamObserver<StringValue> shoutAll(StreamObserver<StringValue> answers);

    /** Returns each string in upper case after all strings have arrived. */
    StreamObserver<StringValue> shoutLater(StreamObserver<StringValue> answers);

    int add(int a, int b);

    long add(long a, long b);
}
