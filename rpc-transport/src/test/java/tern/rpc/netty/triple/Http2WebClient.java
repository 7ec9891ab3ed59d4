package tern.rpc.netty.triple;

import io.netty.bootstrap.Bootstrap;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.handler.codec.http2.DefaultHttp2DataFrame;
import io.netty.handler.codec.http2.DefaultHttp2Headers;
import io.netty.handler.codec.http2.DefaultHttp2HeadersFrame;
import io.netty.handler.codec.http2.DefaultHttp2ResetFrame;
import io.netty.handler.codec.http2.Http2DataFrame;
import io.netty.handler.codec.http2.Http2Error;
import io.netty.handler.codec.http2.Http2FrameCodecBuilder;
import io.netty.handler.codec.http2.Http2Headers;
import io.netty.handler.codec.http2.Http2HeadersFrame;
import io.netty.handler.codec.http2.Http2MultiplexHandler;
import io.netty.handler.codec.http2.Http2ResetFrame;
import io.netty.handler.codec.http2.Http2StreamChannel;
import io.netty.handler.codec.http2.Http2StreamChannelBootstrap;
import io.netty.util.ReferenceCountUtil;
import java.io.ByteArrayOutputStream;
import java.net.InetAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import tern.rpc.netty.peer.Await;

/** An HTTP/2 client based on Netty's HTTP/2 codec. */
final class Http2WebClient implements WebClient {

    private final EventLoopGroup loop = new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());
    private final Channel channel;

    Http2WebClient(int port) {
        channel = new Bootstrap()
                .group(loop)
                .channel(NioSocketChannel.class)
                .handler(new ChannelInitializer<>() {
                    @Override
                    protected void initChannel(Channel opened) {
                        opened.pipeline()
                                .addLast(
                                        Http2FrameCodecBuilder.forClient().build(),
                                        new Http2MultiplexHandler(new ChannelInboundHandlerAdapter()));
                    }
                })
                .connect(InetAddress.getLoopbackAddress(), port)
                .syncUninterruptibly()
                .channel();
    }

    @Override
    public WebAnswer send(WebRequest request) {
        WebStream stream = begin(request);
        if (request.body().length > 0) {
            stream.send(request.body());
        }
        stream.end();
        return stream.answer();
    }

    @Override
    public WebStream begin(WebRequest request) {
        Answer answer = new Answer();
        Http2StreamChannel stream = new Http2StreamChannelBootstrap(channel)
                .handler(answer)
                .open()
                .syncUninterruptibly()
                .getNow();
        Http2Headers head = new DefaultHttp2Headers()
                .method(request.method())
                .path(request.path())
                .scheme("http")
                .authority("localhost");
        request.headers().forEach(header -> head.add(header.getKey(), header.getValue()));
        stream.writeAndFlush(new DefaultHttp2HeadersFrame(head));
        return new Stream(stream, answer);
    }

    @Override
    public void close() {
        channel.close().syncUninterruptibly();
        loop.shutdownGracefully(0, 5, TimeUnit.SECONDS).syncUninterruptibly();
    }

    private record Stream(Http2StreamChannel channel, Answer incoming) implements WebStream {

        @Override
        public void send(byte[] piece) {
            channel.writeAndFlush(new DefaultHttp2DataFrame(Unpooled.wrappedBuffer(piece)));
        }

        @Override
        public void end() {
            channel.writeAndFlush(new DefaultHttp2DataFrame(true));
        }

        @Override
        public void cancel() {
            channel.writeAndFlush(new DefaultHttp2ResetFrame(Http2Error.CANCEL));
        }

        @Override
        public byte[] awaitBody(int bytes) {
            Await.until(bytes + " bytes of the body", () -> incoming.body().length >= bytes);
            return incoming.body();
        }

        @Override
        public WebAnswer answer() {
            Await.until("the end of the answer", incoming::isEnded);
            return incoming.whole();
        }
    }

    /** Receives the answer on one stream. */
    private static final class Answer extends ChannelInboundHandlerAdapter {

        // all fields of this class are guarded by the object's own lock
        private final ByteArrayOutputStream body = new ByteArrayOutputStream();
        private final List<Http2Headers> headers = new ArrayList<>();
        private @Nullable Long reset;
        private boolean ended;

        @Override
        public synchronized void channelRead(ChannelHandlerContext context, Object message) {
            try {
                if (message instanceof Http2HeadersFrame frame) {
                    headers.add(frame.headers());
                    ended |= frame.isEndStream();
                } else if (message instanceof Http2DataFrame frame) {
                    byte[] bytes = new byte[frame.content().readableBytes()];
                    frame.content().readBytes(bytes);
                    body.writeBytes(bytes);
                    ended |= frame.isEndStream();
                }
            } finally {
                ReferenceCountUtil.release(message);
            }
        }

        @Override
        public synchronized void userEventTriggered(ChannelHandlerContext context, Object event) {
            if (event instanceof Http2ResetFrame frame && !ended) {
                reset = frame.errorCode();
            }
        }

        synchronized boolean isEnded() {
            return ended || reset != null;
        }

        synchronized byte[] body() {
            return body.toByteArray();
        }

        synchronized WebAnswer whole() {
            if (reset != null) {
                throw new AssertionError("the stream was reset with error " + reset);
            }
            Http2Headers head = headers.get(0);
            return new WebAnswer(
                    Integer.parseInt(Objects.requireNonNull(head.status()).toString()),
                    map(head),
                    body.toByteArray(),
                    headers.size() > 1 ? map(headers.get(1)) : Map.of());
        }

        private static Map<String, List<String>> map(Http2Headers headers) {
            Map<String, List<String>> map = new TreeMap<>();
            headers.forEach(header -> map.computeIfAbsent(header.getKey().toString(), name -> new ArrayList<>())
                    .add(header.getValue().toString()));
            return map;
        }
    }
}
