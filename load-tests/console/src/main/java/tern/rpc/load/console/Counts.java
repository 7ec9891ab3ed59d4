package tern.rpc.load.console;

import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.springframework.boot.actuate.endpoint.annotation.Endpoint;
import org.springframework.boot.actuate.endpoint.annotation.ReadOperation;

/** Counts the calls and cancelled streams of the methods, independently of the console. Thread-safe. */
@Endpoint(id = "counts")
public class Counts {

    private final Map<String, AtomicInteger> counts = new ConcurrentHashMap<>();

    void add(String event) {
        counts.computeIfAbsent(event, unknown -> new AtomicInteger()).incrementAndGet();
    }

    @ReadOperation
    public Map<String, Integer> counts() {
        Map<String, Integer> read = new TreeMap<>();
        counts.forEach((event, count) -> read.put(event, count.get()));
        return read;
    }
}
