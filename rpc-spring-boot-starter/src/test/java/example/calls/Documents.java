package example.calls;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import tern.rpc.StreamObserver;
import tern.rpc.spring.RpcService;

@RpcService
public class Documents implements DocumentService {

    private final Map<String, byte[]> files = new ConcurrentHashMap<>();

    @Override
    public String title(String document) {
        return "About " + document;
    }

    @Override
    public CompletableFuture<String> author(String document) {
        return CompletableFuture.completedFuture("Ada");
    }

    @Override
    public void read(String document, StreamObserver<byte[]> parts) {
        try (InputStream file = new ByteArrayInputStream(files.get(document))) {
            for (byte[] part = file.readNBytes(65_536); part.length > 0; part = file.readNBytes(65_536)) {
                parts.onNext(part); // Waits while the caller is slow.
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e); // The caller receives the failure in onError.
        }
        parts.onCompleted();
    }

    @Override
    public StreamObserver<Part> write(StreamObserver<Long> size) {
        ByteArrayOutputStream file = new ByteArrayOutputStream();
        return new StreamObserver<>() {
            private String document = "";

            @Override
            public void onNext(Part part) {
                document = part.document();
                file.writeBytes(part.bytes());
            }

            @Override
            public void onError(Throwable failure) {} // The caller has given up, so nothing is kept.

            @Override
            public void onCompleted() {
                files.put(document, file.toByteArray());
                size.onNext((long) file.size());
                size.onCompleted();
            }
        };
    }
}
