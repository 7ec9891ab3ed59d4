package tern.rpc.netty.triple;

import com.google.protobuf.Empty;
import com.google.protobuf.StringValue;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Flow;
import tern.rpc.RpcMethod;
import tern.rpc.StreamObserver;

/** A service for tests of the forms that browsers and generated clients use. */
interface Words {

    /** Returns the text in capitals. */
    @RpcMethod(readOnly = true)
    StringValue shout(StringValue text);

    /** Returns the text in capitals, with Java types. */
    @RpcMethod(readOnly = true)
    String shoutJava(String text);

    /** Does not permit GET. */
    StringValue write(StringValue text);

    /** Returns its arguments, which have the names of Connect's query parameters. */
    @RpcMethod(readOnly = true)
    String echoQuery(String encoding, String message);

    /** Fails with the code and the text after the space. */
    StringValue fail(StringValue code);

    /** Repeats a text this number of times, with 5 characters each. */
    StringValue repeat(StringValue times);

    /**
     * Returns the server's view of the call, one line each: protocol, compression, remaining milliseconds, metadata.
     */
    StringValue describe(Empty nothing);

    /** Succeeds, but sends invalid {@code headers} or {@code trailers}. */
    StringValue misspell(StringValue where);

    /** Ends when the call is cancelled. */
    Empty hang(Empty nothing);

    /** Counts up to a number. Then it fails if a word follows the number. */
    void count(StringValue upTo, StreamObserver<StringValue> answers);

    /** Returns all received texts joined. */
    CompletionStage<StringValue> join(Flow.Publisher<StringValue> parts);

    /** Returns each text in capitals as soon as it arrives. */
    StreamObserver<StringValue> shoutAll(StreamObserver<StringValue> answers);

    /** Returns each text in capitals after all have arrived. */
    StreamObserver<StringValue> shoutLater(StreamObserver<StringValue> answers);

    int add(int a, int b);

    long add(long a, long b);
}
