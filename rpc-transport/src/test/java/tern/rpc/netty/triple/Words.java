package tern.rpc.netty.triple;

import com.google.protobuf.Empty;
import com.google.protobuf.StringValue;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Flow;
import tern.rpc.RpcMethod;
import tern.rpc.StreamObserver;

/** A service for the tests of the forms that browsers and generated clients use. */
interface Words {

    /** The text in capitals. */
    @RpcMethod(readOnly = true)
    StringValue shout(StringValue text);

    /** The same by Java types. */
    @RpcMethod(readOnly = true)
    String shoutJava(String text);

    /** Not to be called by GET. */
    StringValue write(StringValue text);

    /** Takes what a query of Connect has. */
    @RpcMethod(readOnly = true)
    String echoQuery(String encoding, String message);

    /** Fails with the code, and the text behind a space. */
    StringValue fail(StringValue code);

    /** The text that many times: 5 characters for one. */
    StringValue repeat(StringValue times);

    /** What the server sees of the call, one line each: protocol, compression, milliseconds left, metadata. */
    StringValue describe(Empty nothing);

    /** Succeeds, but with {@code headers} or {@code trailers} that cannot travel. */
    StringValue misspell(StringValue where);

    /** Ends when the caller has left. */
    Empty hang(Empty nothing);

    /** Counts up to a number; fails then if a word follows. */
    void count(StringValue upTo, StreamObserver<StringValue> answers);

    /** All that came, one behind the other. */
    CompletionStage<StringValue> join(Flow.Publisher<StringValue> parts);

    /** Each in capitals as soon as it comes. */
    StreamObserver<StringValue> shoutAll(StreamObserver<StringValue> answers);

    /** Each in capitals when all have come. */
    StreamObserver<StringValue> shoutLater(StreamObserver<StringValue> answers);

    int add(int a, int b);

    long add(long a, long b);
}
