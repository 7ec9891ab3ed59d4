package example.calls;

import example.calls.DocumentService.Part;
import java.io.ByteArrayOutputStream;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.springframework.stereotype.Component;
import tern.rpc.CallOptions;
import tern.rpc.StreamObserver;
import tern.rpc.spring.RpcReference;

@Component
public class Editor {

    private final DocumentService documents;

    Editor(@RpcReference DocumentService documents) {
        this.documents = documents;
    }

    /** Calls with a timeout and a header that apply to this call only. */
    public String title(String document) {
        return CallOptions.none()
                .timeout(Duration.ofSeconds(30))
                .header("x-user", "ada")
                .on(documents)
                .title(document);
    }

    /** Makes two calls at the same time. */
    public String authors(String one, String other) {
        CompletableFuture<String> first = documents.author(one);
        CompletableFuture<String> second = documents.author(other);
        return first.join() + ", " + second.join();
    }

    public long write(String document, List<byte[]> parts) {
        Collector<Long> answers = new Collector<>();
        StreamObserver<Part> requests = documents.write(answers);
        parts.forEach(bytes -> requests.onNext(new Part(document, bytes))); // Waits while the server is slow.
        requests.onCompleted();
        return answers.values().get(0);
    }

    public byte[] read(String document) {
        Collector<byte[]> answers = new Collector<>();
        documents.read(document, answers);
        ByteArrayOutputStream whole = new ByteArrayOutputStream();
        answers.values().forEach(whole::writeBytes);
        return whole.toByteArray();
    }
}
