package example.calls;

import java.io.Serializable;
import java.util.concurrent.CompletableFuture;
import tern.rpc.StreamObserver;

public interface DocumentService {

    record Part(String document, byte[] bytes) implements Serializable {}

    /** The caller waits for the result. */
    String title(String document);

    /** The caller gets a future, and does not wait. */
    CompletableFuture<String> author(String document);

    /** A stream of answers, for example to read a large file. */
    void read(String document, StreamObserver<byte[]> parts);

    /** A stream of requests, for example to write a large file. The answer is the number of bytes. */
    StreamObserver<Part> write(StreamObserver<Long> size);
}
