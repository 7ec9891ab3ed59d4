package tern.rpc.load.micro;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import tern.rpc.load.micro.SideBySide.Row;
import tern.rpc.netty.triple.OwnPieces;

/**
 * Compares Tern's compression with the JDK's compression streams, and Tern's parser for {@code google.protobuf.Value}
 * with Jackson's parser.
 *
 * <pre>java -cp load-tests/target/load-tests.jar tern.rpc.load.micro.LibraryComparison [rounds] [milliseconds] [part of
 * a row's name]</pre>
 */
public final class LibraryComparison {

    private LibraryComparison() {}

    public static void main(String[] arguments) {
        List<Row> rows = new ArrayList<>();
        for (int users : List.of(1, 20, 200)) {
            String name = users == 1 ? "a user" : users + " users";
            byte[] json = user(users);
            OwnPieces pieces = new OwnPieces();
            byte[] compressed = pieces.compress(json);
            String size = ", " + json.length + " bytes";
            if (!pieces.agree(json)) {
                throw new IllegalStateException("the two parsers differ");
            }
            rows.add(new Row(
                    "gzip " + name + size, () -> pieces.compress(json), () -> OwnPieces.compressByStream(json)));
            rows.add(new Row(
                    "gunzip " + name + size,
                    () -> pieces.decompress(compressed),
                    () -> OwnPieces.decompressByStream(compressed)));
            rows.add(new Row("value of " + name + size, () -> pieces.value(json), () -> pieces.valueByParser(json)));
        }
        SideBySide.print("library", rows, arguments);
    }

    private static byte[] user(int count) {
        StringBuilder json = new StringBuilder("[");
        for (int i = 0; i < count; i++) {
            json.append(i == 0 ? "" : ",")
                    .append("{\"id\":")
                    .append(1_236 + i)
                    .append(
                            ",\"name\":\"Doug Lea\",\"sex\":1,\"birthday\":\"1968-12-08\",\"email\":\"dong.lea@gmail.com\",")
                    .append(
                            "\"mobile\":\"18612345678\",\"address\":\"北京市 \\\"1\\\"\",\"permissions\":[1,2,3,4,5,6,7,8,9],")
                    .append("\"status\":1,\"balance\":1234.5,\"created\":\"2026-01-02T03:04:05.678\",\"active\":true}");
        }
        return json.append(']').toString().getBytes(StandardCharsets.UTF_8);
    }
}
