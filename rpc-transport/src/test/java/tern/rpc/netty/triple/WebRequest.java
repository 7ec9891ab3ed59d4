package tern.rpc.netty.triple;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** A request for tests, for any version of HTTP. */
record WebRequest(String method, String path, List<Map.Entry<String, String>> headers, byte[] body) {

    static WebRequest post(String path, String contentType) {
        return new WebRequest("POST", path, List.of(), new byte[0]).with("content-type", contentType);
    }

    static WebRequest of(String method, String path) {
        return new WebRequest(method, path, List.of(), new byte[0]);
    }

    WebRequest with(String name, String value) {
        List<Map.Entry<String, String>> more = new ArrayList<>(headers);
        more.add(Map.entry(name, value));
        return new WebRequest(method, path, more, body);
    }

    WebRequest body(byte[] bytes) {
        return new WebRequest(method, path, headers, bytes);
    }
}
