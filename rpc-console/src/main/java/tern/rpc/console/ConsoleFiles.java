package tern.rpc.console;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import java.util.zip.Deflater;
import java.util.zip.GZIPOutputStream;
import org.jspecify.annotations.Nullable;

/**
 * The files of the console's page. Only the files in a fixed list are served. Each file is read and compressed when it
 * is first requested. Thread-safe.
 */
final class ConsoleFiles {

    static final String HTML = "text/html;charset=UTF-8";
    private static final String SCRIPT = "text/javascript;charset=UTF-8";
    private static final String STYLE = "text/css;charset=UTF-8";
    private static final String TEXT = "text/plain;charset=UTF-8";

    private static final String FOLDER = "/tern/rpc/console/";
    private static final String INDEX = "index.html";

    private static final Map<String, String> PATHS = Stream.concat(
                    Stream.of(
                            "app.css",
                            "app.js",
                            "api.js",
                            "charts.js",
                            "copyas.js",
                            "form.js",
                            "html.js",
                            "json.js",
                            "live.js",
                            "now.js",
                            "outgoing.js",
                            "parts.js",
                            "result.js",
                            "route.js",
                            "services.js",
                            "settings.js",
                            "slow.js",
                            "theme.js",
                            "why.js"),
                    Stream.of(
                            "vendor/preact.js",
                            "vendor/hooks.js",
                            "vendor/htm.js",
                            "vendor/uplot.js",
                            "vendor/uplot.css",
                            "vendor/licences.txt"))
            .collect(Collectors.toUnmodifiableMap(path -> path.substring(path.lastIndexOf('/') + 1), path -> path));

    // A cache of the files that have been requested, with at most one entry for each listed file.
    private final Map<String, File> files = new ConcurrentHashMap<>();
    private final String version;

    ConsoleFiles() {
        String implementation = ConsoleFiles.class.getPackage().getImplementationVersion();
        this.version = implementation == null ? "" : implementation;
    }

    /**
     * A file, in both plain and compressed form.
     *
     * @param tag the value of the {@code ETag} header
     */
    record File(String contentType, byte[] plain, byte[] gzip, String tag) {}

    /** Returns the version in the jar's manifest. Returns an empty string if the classes are not in a jar. */
    String version() {
        return version;
    }

    /** Returns the names of all files except {@code index.html}. */
    static List<String> names() {
        return PATHS.keySet().stream().sorted().toList();
    }

    /** Returns the file with the given name; null if the name is not in the list. */
    @Nullable
    File file(String name) {
        String path = PATHS.get(name);
        return path == null ? null : loaded(name, path, text -> text);
    }

    /**
     * Returns the {@code index.html} file with its placeholders filled in.
     *
     * @param endpoint the last element of the endpoint's path, which is part of the page's links
     */
    @Nullable
    File page(String endpoint) {
        return loaded(
                INDEX,
                INDEX,
                text -> text.replace("{{endpoint}}", escaped(endpoint)).replace("{{version}}", escaped(version)));
    }

    private static String escaped(String text) {
        StringBuilder safe = new StringBuilder();
        text.codePoints()
                .forEach(c -> safe.append(
                        Character.isLetterOrDigit(c) || c == '-' || c == '.' || c == '_' || c == '~'
                                ? Character.toString(c)
                                : "&#" + c + ';'));
        return safe.toString();
    }

    private interface Change {
        String of(String text);
    }

    private @Nullable File loaded(String name, String path, Change change) {
        File known = files.get(name);
        if (known != null) {
            return known;
        }
        byte[] bytes = read(path);
        if (bytes == null) {
            return null;
        }
        byte[] plain = change.of(new String(bytes, StandardCharsets.UTF_8)).getBytes(StandardCharsets.UTF_8);
        File made = new File(contentType(name), plain, compressed(plain), '"' + hash(plain) + '"');
        files.put(name, made);
        return made;
    }

    private static byte @Nullable [] read(String path) {
        try (InputStream resource = ConsoleFiles.class.getResourceAsStream(FOLDER + path)) {
            return resource == null ? null : resource.readAllBytes();
        } catch (IOException e) {
            throw new UncheckedIOException("cannot read " + FOLDER + path + " in the jar of tern-rpc-console", e);
        }
    }

    private static byte[] compressed(byte[] plain) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (GZIPOutputStream zip = new BestGzip(bytes)) {
            zip.write(plain);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return bytes.toByteArray();
    }

    private static final class BestGzip extends GZIPOutputStream {
        BestGzip(ByteArrayOutputStream to) throws IOException {
            super(to);
            def.setLevel(Deflater.BEST_COMPRESSION);
        }
    }

    private static String hash(byte[] content) {
        try {
            byte[] digest = MessageDigest.getInstance("SHA-256").digest(content);
            return HexFormat.of().formatHex(digest, 0, 8);
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every JDK has SHA-256", e);
        }
    }

    private static String contentType(String name) {
        if (name.endsWith(".html")) {
            return HTML;
        }
        if (name.endsWith(".js")) {
            return SCRIPT;
        }
        return name.endsWith(".css") ? STYLE : TEXT;
    }
}
