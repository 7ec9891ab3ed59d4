package tern.rpc.console;

import java.util.List;
import org.springframework.core.io.buffer.DataBuffer;
import org.springframework.core.io.buffer.DataBufferLimitException;
import org.springframework.core.io.buffer.DataBufferUtils;
import org.springframework.core.io.buffer.DefaultDataBufferFactory;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpMethod;
import org.springframework.http.HttpStatus;
import org.springframework.http.HttpStatusCode;
import org.springframework.http.MediaType;
import org.springframework.http.server.PathContainer;
import org.springframework.http.server.reactive.ServerHttpRequest;
import org.springframework.http.server.reactive.ServerHttpRequestDecorator;
import org.springframework.http.server.reactive.ServerHttpResponse;
import org.springframework.web.server.ServerWebExchange;
import org.springframework.web.server.WebFilter;
import org.springframework.web.server.WebFilterChain;
import org.springframework.web.util.pattern.PathPattern;
import org.springframework.web.util.pattern.PathPatternParser;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * Does the work of {@link ConsoleServletFilter} in reactive applications: sets the headers of the console's responses,
 * compresses its files, and checks each request that makes a call.
 */
final class ConsoleWebFilter implements WebFilter {

    private final Console console;
    private final PathPattern page;
    private final PathPattern below;

    /** @param path the path of the endpoint relative to the application's base path */
    ConsoleWebFilter(Console console, String path) {
        this.console = console;
        this.page = PathPatternParser.defaultInstance.parse(path);
        this.below = PathPatternParser.defaultInstance.parse(path + "/{*name}");
    }

    @Override
    public Mono<Void> filter(ServerWebExchange exchange, WebFilterChain chain) {
        PathContainer path = exchange.getRequest().getPath().pathWithinApplication();
        boolean isPage = page.matches(path);
        PathPattern.PathMatchInfo found = isPage ? null : below.matchAndExtract(path);
        if (!isPage && found == null) {
            return chain.filter(exchange);
        }
        HttpHeaders headers = exchange.getResponse().getHeaders();
        ConsoleHeaders.safety().forEach(headers::set);
        headers.set(HttpHeaders.CACHE_CONTROL, "no-store");
        HttpMethod method = exchange.getRequest().getMethod();
        String name = ConsoleHeaders.nameIn(
                found == null ? "" : found.getUriVariables().getOrDefault("name", ""));
        if (method.equals(HttpMethod.POST)) {
            return call(name.equals(RpcConsoleEndpoint.STOP), exchange, chain);
        }
        if (method.equals(HttpMethod.GET) || method.equals(HttpMethod.HEAD)) {
            ConsoleFiles.File file = isPage ? console.page() : console.files().file(name);
            if (file != null) {
                return send(file, exchange);
            }
        }
        return chain.filter(exchange);
    }

    private static Mono<Void> send(ConsoleFiles.File file, ServerWebExchange exchange) {
        ServerHttpRequest request = exchange.getRequest();
        ServerHttpResponse answer = exchange.getResponse();
        HttpHeaders headers = answer.getHeaders();
        headers.set(HttpHeaders.CACHE_CONTROL, "no-cache");
        headers.set(HttpHeaders.ETAG, file.tag());
        headers.set(HttpHeaders.VARY, HttpHeaders.ACCEPT_ENCODING);
        if (ConsoleHeaders.has(values(request, HttpHeaders.IF_NONE_MATCH), file.tag())) {
            answer.setStatusCode(HttpStatus.NOT_MODIFIED);
            return answer.setComplete();
        }
        boolean zipped = ConsoleHeaders.acceptsGzip(values(request, HttpHeaders.ACCEPT_ENCODING));
        if (zipped) {
            headers.set(HttpHeaders.CONTENT_ENCODING, "gzip");
        }
        return write(answer, file.contentType(), zipped ? file.gzip() : file.plain());
    }

    private static Mono<Void> write(ServerHttpResponse answer, String contentType, byte[] body) {
        answer.getHeaders().setContentType(MediaType.parseMediaType(contentType));
        answer.getHeaders().setContentLength(body.length);
        return answer.writeWith(Mono.fromSupplier(() -> answer.bufferFactory().wrap(body)));
    }

    private Mono<Void> call(boolean stops, ServerWebExchange exchange, WebFilterChain chain) {
        try {
            RequestRules.check(headOf(exchange.getRequest()));
        } catch (WrongRequestException e) {
            return refuse(exchange, e);
        }
        return body(exchange.getRequest())
                .flatMap(body -> admitted(stops, exchange, chain, body))
                .onErrorResume(WrongRequestException.class, e -> refuse(exchange, e));
    }

    private Mono<Void> admitted(boolean stops, ServerWebExchange exchange, WebFilterChain chain, byte[] body) {
        String ticket = console.calls()
                .tickets()
                .create(stops, body, exchange.getRequest().getRemoteAddress());
        return Mono.defer(() -> chain.filter(exchange.mutate()
                        .request(new TicketRequest(exchange.getRequest(), ticket))
                        .build()))
                .doFinally(signal -> console.calls().tickets().drop(ticket));
    }

    private Mono<Void> refuse(ServerWebExchange exchange, WrongRequestException failure) {
        exchange.getResponse().setStatusCode(HttpStatusCode.valueOf(failure.status()));
        return write(exchange.getResponse(), "application/json", console.json().bytes(failure.answer()));
    }

    private static Mono<byte[]> body(ServerHttpRequest request) {
        return DataBufferUtils.join(request.getBody(), CallRequest.MAX_BYTES)
                .map(ConsoleWebFilter::bytes)
                .defaultIfEmpty(new byte[0])
                .onErrorMap(
                        DataBufferLimitException.class,
                        e -> RequestRules.tooLarge("more than " + CallRequest.MAX_BYTES + " bytes"));
    }

    private static byte[] bytes(DataBuffer buffer) {
        try {
            byte[] bytes = new byte[buffer.readableByteCount()];
            buffer.read(bytes);
            return bytes;
        } finally {
            DataBufferUtils.release(buffer);
        }
    }

    private static RequestRules.Head headOf(ServerHttpRequest request) {
        String host = request.getURI().getHost();
        return new RequestRules.Head(
                values(request, RequestRules.MARK),
                values(request, HttpHeaders.ORIGIN),
                values(request, HttpHeaders.HOST),
                values(request, "Sec-Fetch-Site"),
                values(request, HttpHeaders.CONTENT_TYPE),
                values(request, HttpHeaders.CONTENT_ENCODING),
                host == null ? "" : host,
                request.getURI().getPort(),
                request.getURI().getScheme() == null ? "http" : request.getURI().getScheme(),
                request.getHeaders().getContentLength());
    }

    private static List<String> values(ServerHttpRequest request, String name) {
        List<String> values = request.getHeaders().get(name);
        return values == null ? List.of() : values;
    }

    /** A request whose body has been replaced with the ticket for its call. */
    private static final class TicketRequest extends ServerHttpRequestDecorator {

        private final byte[] body;
        private final HttpHeaders headers;

        TicketRequest(ServerHttpRequest request, String ticket) {
            super(request);
            this.body = Tickets.body(ticket);
            this.headers = new HttpHeaders();
            this.headers.putAll(request.getHeaders());
            this.headers.setContentLength(body.length);
            this.headers.remove(HttpHeaders.TRANSFER_ENCODING);
        }

        @Override
        public HttpHeaders getHeaders() {
            return headers;
        }

        @Override
        public Flux<DataBuffer> getBody() {
            return Flux.defer(() -> Flux.just(DefaultDataBufferFactory.sharedInstance.wrap(body)));
        }
    }
}
