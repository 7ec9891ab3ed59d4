package tern.rpc.console;

import jakarta.servlet.Filter;
import jakarta.servlet.FilterChain;
import jakarta.servlet.ReadListener;
import jakarta.servlet.ServletException;
import jakarta.servlet.ServletInputStream;
import jakarta.servlet.ServletRequest;
import jakarta.servlet.ServletResponse;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletRequestWrapper;
import jakarta.servlet.http.HttpServletResponse;
import java.io.BufferedReader;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.Collections;
import java.util.List;

/**
 * Sets the headers of the console's responses, compresses its files, and checks each request that makes a call. Runs
 * after the authentication filters.
 */
final class ConsoleServletFilter implements Filter {

    private final Console console;
    private final String path;

    /** @param path the path of the endpoint relative to the application's context path */
    ConsoleServletFilter(Console console, String path) {
        this.console = console;
        this.path = path;
    }

    @Override
    public void doFilter(ServletRequest request, ServletResponse response, FilterChain chain)
            throws IOException, ServletException {
        HttpServletRequest http = (HttpServletRequest) request;
        HttpServletResponse answer = (HttpServletResponse) response;
        ConsoleHeaders.safety().forEach(answer::setHeader);
        answer.setHeader("Cache-Control", "no-store");
        String inside = http.getServletPath() + (http.getPathInfo() == null ? "" : http.getPathInfo());
        String name = inside.startsWith(path) ? ConsoleHeaders.nameIn(inside.substring(path.length())) : "?";
        switch (http.getMethod()) {
            case "POST" -> call(name.equals(RpcConsoleEndpoint.STOP), http, answer, chain);
            case "GET", "HEAD" -> {
                ConsoleFiles.File file =
                        inside.equals(path) ? console.page() : console.files().file(name);
                if (file == null) {
                    chain.doFilter(http, answer);
                } else {
                    send(file, http, answer);
                }
            }
            default -> chain.doFilter(http, answer);
        }
    }

    private static void send(ConsoleFiles.File file, HttpServletRequest request, HttpServletResponse answer)
            throws IOException {
        answer.setHeader("Cache-Control", "no-cache");
        answer.setHeader("ETag", file.tag());
        answer.setHeader("Vary", "Accept-Encoding");
        if (ConsoleHeaders.has(values(request, "If-None-Match"), file.tag())) {
            answer.setStatus(HttpServletResponse.SC_NOT_MODIFIED);
            return;
        }
        boolean zipped = ConsoleHeaders.acceptsGzip(values(request, "Accept-Encoding"));
        byte[] body = zipped ? file.gzip() : file.plain();
        answer.setContentType(file.contentType());
        answer.setContentLength(body.length);
        if (zipped) {
            answer.setHeader("Content-Encoding", "gzip");
        }
        if (request.getMethod().equals("GET")) {
            answer.getOutputStream().write(body);
        }
    }

    private void call(boolean stops, HttpServletRequest request, HttpServletResponse answer, FilterChain chain)
            throws IOException, ServletException {
        String ticket;
        try {
            RequestRules.check(headOf(request));
            ticket = console.calls().tickets().create(stops, body(request), caller(request));
        } catch (WrongRequestException e) {
            answer.setStatus(e.status());
            answer.setContentType("application/json");
            answer.getOutputStream().write(console.json().bytes(e.answer()));
            return;
        }
        try {
            chain.doFilter(new TicketRequest(request, ticket), answer);
        } finally {
            console.calls().tickets().drop(ticket);
        }
    }

    private static RequestRules.Head headOf(HttpServletRequest request) {
        return new RequestRules.Head(
                values(request, RequestRules.MARK),
                values(request, "Origin"),
                values(request, "Host"),
                values(request, "Sec-Fetch-Site"),
                values(request, "Content-Type"),
                values(request, "Content-Encoding"),
                request.getServerName(),
                request.getServerPort(),
                request.getScheme(),
                request.getContentLengthLong());
    }

    private static List<String> values(HttpServletRequest request, String name) {
        return Collections.list(request.getHeaders(name));
    }

    private static byte[] body(HttpServletRequest request) throws IOException {
        InputStream in = request.getInputStream();
        byte[] body = in.readNBytes(CallRequest.MAX_BYTES + 1);
        if (body.length > CallRequest.MAX_BYTES) {
            throw RequestRules.tooLarge("more than " + CallRequest.MAX_BYTES + " bytes");
        }
        return body;
    }

    /** Returns the browser's address, created without a name lookup. */
    private static InetSocketAddress caller(HttpServletRequest request) {
        return ConsoleAddresses.of(request.getRemoteAddr(), request.getRemotePort());
    }

    /** A request whose body has been replaced with the ticket for its call. */
    private static final class TicketRequest extends HttpServletRequestWrapper {

        private final byte[] body;

        TicketRequest(HttpServletRequest request, String ticket) {
            super(request);
            this.body = Tickets.body(ticket);
        }

        @Override
        public int getContentLength() {
            return body.length;
        }

        @Override
        public long getContentLengthLong() {
            return body.length;
        }

        @Override
        public ServletInputStream getInputStream() {
            return new Bytes(body);
        }

        @Override
        public BufferedReader getReader() {
            return new BufferedReader(new InputStreamReader(getInputStream(), StandardCharsets.UTF_8));
        }
    }

    private static final class Bytes extends ServletInputStream {

        private final ByteArrayInputStream bytes;

        Bytes(byte[] body) {
            this.bytes = new ByteArrayInputStream(body);
        }

        @Override
        public int read() {
            return bytes.read();
        }

        @Override
        public int read(byte[] into, int offset, int length) {
            return bytes.read(into, offset, length);
        }

        @Override
        public boolean isFinished() {
            return bytes.available() == 0;
        }

        @Override
        public boolean isReady() {
            return true;
        }

        @Override
        public void setReadListener(ReadListener listener) {
            throw new IllegalStateException("the request is read synchronously");
        }
    }
}
