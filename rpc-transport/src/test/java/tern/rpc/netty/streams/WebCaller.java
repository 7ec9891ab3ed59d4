package tern.rpc.netty.streams;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.example.ledger.Entry;
import com.example.ledger.Receipt;
import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.util.JsonFormat;
import io.netty.bootstrap.Bootstrap;
import io.netty.buffer.ByteBuf;
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
import io.netty.handler.codec.http2.DefaultHttp2WindowUpdateFrame;
import io.netty.handler.codec.http2.Http2DataFrame;
import io.netty.handler.codec.http2.Http2Error;
import io.netty.handler.codec.http2.Http2FrameCodecBuilder;
import io.netty.handler.codec.http2.Http2Headers;
import io.netty.handler.codec.http2.Http2HeadersFrame;
import io.netty.handler.codec.http2.Http2MultiplexHandler;
import io.netty.handler.codec.http2.Http2ResetFrame;
import io.netty.handler.codec.http2.Http2Settings;
import io.netty.handler.codec.http2.Http2StreamChannel;
import io.netty.handler.codec.http2.Http2StreamChannelBootstrap;
import io.netty.handler.ssl.ApplicationProtocolConfig;
import io.netty.handler.ssl.ApplicationProtocolConfig.Protocol;
import io.netty.handler.ssl.ApplicationProtocolConfig.SelectedListenerFailureBehavior;
import io.netty.handler.ssl.ApplicationProtocolConfig.SelectorFailureBehavior;
import io.netty.handler.ssl.ApplicationProtocolNames;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.util.ReferenceCountUtil;
import java.net.InetAddress;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.net.ssl.SSLException;
import org.jspecify.annotations.Nullable;
import tern.rpc.StatusCode;
import tern.rpc.netty.streams.FeedPlan.Way;

/**
 * An HTTP/2 client that calls one of the web protocols. The client uses Netty's codec directly, so its flow-control
 * windows can have any size.
 */
final class WebCaller implements FeedCaller {

    /** The web protocols that support streams. */
    enum Form {
        GRPC("application/grpc"),
        GRPC_WEB("application/grpc-web+proto"),
        CONNECT("application/connect+proto"),
        EVENTS("application/json");

        private final String contentType;

        Form(String contentType) {
            this.contentType = contentType;
        }

        boolean goes(Way way) {
            return this != EVENTS || way == Way.DOWN;
        }
    }

    private static final int CONNECTION_WINDOW = 32 << 20;
    private static final int PREFIX_BYTES = 5;
    private static final int WEB_TRAILERS = 0x80;
    private static final int CONNECT_END = 0x02;
    private static final Pattern CODE = Pattern.compile("\"code\":\"([a-z_]+)\"");
    private static final Pattern GRPC_STATUS = Pattern.compile("grpc-status: ?([0-9]+)");

    private final Form form;
    private final int window;
    private final EventLoopGroup loop = new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());
    private final Channel channel;

    /** @param window the flow-control window of each stream, in bytes */
    WebCaller(int port, Form form, int window, boolean tls) {
        this.form = form;
        this.window = window;
        this.channel = new Bootstrap()
                .group(loop)
                .channel(NioSocketChannel.class)
                .handler(new ChannelInitializer<>() {
                    @Override
                    protected void initChannel(Channel opened) {
                        if (tls) {
                            opened.pipeline().addLast(trusting().newHandler(opened.alloc(), "127.0.0.1", port));
                        }
                        opened.pipeline()
                                .addLast(
                                        Http2FrameCodecBuilder.forClient()
                                                .initialSettings(Http2Settings.defaultSettings()
                                                        .initialWindowSize(window))
                                                .build(),
                                        new Http2MultiplexHandler(new ChannelInboundHandlerAdapter()));
                    }
                })
                .connect(InetAddress.getLoopbackAddress(), port)
                .syncUninterruptibly()
                .channel();
        channel.writeAndFlush(new DefaultHttp2WindowUpdateFrame(CONNECTION_WINDOW))
                .syncUninterruptibly();
    }

    private static SslContext trusting() {
        try {
            return SslContextBuilder.forClient()
                    .trustManager(FeedsSettings.authority().trust())
                    .applicationProtocolConfig(new ApplicationProtocolConfig(
                            Protocol.ALPN,
                            SelectorFailureBehavior.NO_ADVERTISE,
                            SelectedListenerFailureBehavior.ACCEPT,
                            ApplicationProtocolNames.HTTP_2))
                    .build();
        } catch (SSLException e) {
            throw new IllegalStateException(e);
        }
    }

    @Override
    public void begin(Feed feed) {
        new Http2StreamChannelBootstrap(channel)
                .handler(new ChannelInitializer<>() {
                    @Override
                    protected void initChannel(Channel stream) {
                        stream.config().setAutoRead(false);
                        stream.pipeline().addLast(new Exchange(feed));
                    }
                })
                .open()
                .addListener(opened -> {
                    if (opened.isSuccess()) {
                        begin(feed, (Http2StreamChannel) opened.getNow());
                    } else {
                        feed.failed(opened.cause());
                    }
                });
    }

    private void begin(Feed feed, Http2StreamChannel stream) {
        Http2Headers head = new DefaultHttp2Headers()
                .method("POST")
                .path("/" + service(feed.plan).getName() + "/" + method(feed.plan))
                .scheme("http")
                .authority("localhost")
                .set("content-type", form.contentType)
                .set("te", "trailers");
        if (form == Form.CONNECT) {
            head.set("connect-protocol-version", "1");
        }
        if (feed.plan.deadline() != null) {
            head.set("grpc-timeout", feed.plan.deadline().toMillis() + "m")
                    .set(
                            "connect-timeout-ms",
                            String.valueOf(feed.plan.deadline().toMillis()));
        }
        if (feed.plan.mistake() != null) {
            head.set(Misfits.KIND, feed.plan.mistake().name());
        }
        feed.cancelledBy(() -> cancel(feed, stream));
        stream.write(new DefaultHttp2HeadersFrame(head));
        if (feed.plan.way() == Way.DOWN) {
            stream.writeAndFlush(new DefaultHttp2DataFrame(request(feed), true));
        } else {
            sendNext(feed, stream);
        }
        feed.askFirst(() -> readAll(stream), stream::read);
    }

    private static void readAll(Channel stream) {
        stream.eventLoop().execute(() -> stream.config().setAutoRead(true));
    }

    private static Class<?> service(FeedPlan plan) {
        return plan.mistake() == null ? Feeds.class : Misfits.class;
    }

    private static String method(FeedPlan plan) {
        boolean good = plan.mistake() == null;
        List<String> names = switch (plan.way()) {
            case DOWN -> good ? GrpcMethods.DOWN : List.of("publish", "observe");
            case UP -> good ? GrpcMethods.UP : List.of("collect");
            case BOTH -> good ? GrpcMethods.BOTH : List.of("exchange", "exchangeObserved");
        };
        return names.get(plan.id() % names.size());
    }

    private ByteBuf request(Feed feed) {
        if (form != Form.EVENTS) {
            return framed(feed.plan.period().toByteArray());
        }
        try {
            return Unpooled.copiedBuffer(JsonFormat.printer().print(feed.plan.period()), UTF_8);
        } catch (InvalidProtocolBufferException e) {
            throw new IllegalStateException(e);
        }
    }

    private static ByteBuf framed(byte[] message) {
        return Unpooled.buffer(PREFIX_BYTES + message.length)
                .writeByte(0)
                .writeInt(message.length)
                .writeBytes(message);
    }

    /** Sends the stream's remaining requests. Each request is sent after the previous request has been written. */
    private static void sendNext(Feed feed, Http2StreamChannel stream) {
        if (!feed.hasMore()) {
            stream.writeAndFlush(new DefaultHttp2DataFrame(true));
            return;
        }
        ByteBuf message = framed(feed.give().toByteArray());
        stream.writeAndFlush(new DefaultHttp2DataFrame(message)).addListener(done -> {
            if (done.isSuccess()) {
                stream.eventLoop().execute(() -> sendNext(feed, stream));
            }
        });
    }

    private static void cancel(Feed feed, Channel stream) {
        stream.eventLoop().execute(() -> {
            if (!feed.outcome.isDone()) {
                feed.ended(StatusCode.CANCELLED);
                stream.writeAndFlush(new DefaultHttp2ResetFrame(Http2Error.CANCEL));
            }
        });
    }

    @Override
    public void close() {
        channel.close().syncUninterruptibly();
        loop.shutdownGracefully(0, 5, TimeUnit.SECONDS).syncUninterruptibly();
    }

    @Override
    public String toString() {
        return "a bare client of " + form + ", windows of " + window;
    }

    /** Receives the answer on one stream. */
    private final class Exchange extends ChannelInboundHandlerAdapter {

        private final Feed feed;
        private final ByteBuf unread = Unpooled.buffer();
        private @Nullable StatusCode end; // the status of the call; null until it has arrived

        // true if the HTTP status is an error status; the whole body then describes the failure
        private boolean whole;
        private int taken;
        private int searched; // the number of unread bytes that do not contain the end of an event

        Exchange(Feed feed) {
            this.feed = feed;
        }

        @Override
        public void channelRead(ChannelHandlerContext context, Object message) {
            try {
                if (message instanceof Http2HeadersFrame frame) {
                    head(frame.headers());
                    endIf(frame.isEndStream());
                } else if (message instanceof Http2DataFrame frame) {
                    unread.writeBytes(frame.content());
                    if (!whole) {
                        takeApart(context.channel());
                    }
                    unread.discardSomeReadBytes();
                    endIf(frame.isEndStream());
                }
            } catch (InvalidProtocolBufferException e) {
                feed.fault("an answer cannot be read: " + e);
            } finally {
                ReferenceCountUtil.release(message);
            }
        }

        private void head(Http2Headers headers) {
            CharSequence status = headers.get("grpc-status");
            if (status != null) {
                end = StatusCode.values()[Integer.parseInt(status.toString())];
            }
            CharSequence http = headers.status();
            whole = http != null && !"200".contentEquals(http);
            if (whole && form != Form.EVENTS) {
                feed.fault("HTTP status " + http);
            }
        }

        /** Decodes all messages of the body that have arrived completely. */
        private void takeApart(Channel stream) throws InvalidProtocolBufferException {
            if (form == Form.EVENTS) {
                takeEvents(stream);
                return;
            }
            while (unread.readableBytes() >= PREFIX_BYTES
                    && unread.readableBytes() >= PREFIX_BYTES + unread.getInt(unread.readerIndex() + 1)) {
                int flags = unread.readUnsignedByte();
                byte[] content = new byte[unread.readInt()];
                unread.readBytes(content);
                if ((flags & (WEB_TRAILERS | CONNECT_END)) != 0) {
                    end = codeIn(new String(content, UTF_8));
                } else if (feed.plan.way() == Way.UP) {
                    feed.take(Receipt.parseFrom(content));
                } else {
                    take(Entry.parseFrom(content), stream);
                }
            }
        }

        private void takeEvents(Channel stream) throws InvalidProtocolBufferException {
            int length;
            while ((length = eventLength()) >= 0) {
                String event = unread.readCharSequence(length, UTF_8).toString();
                unread.skipBytes(2);
                if (event.startsWith("event:error")) {
                    end = codeIn(event);
                } else if (feed.plan.mistake() == null) {
                    Entry.Builder entry = Entry.newBuilder();
                    JsonFormat.parser().merge(event.substring("data:".length()), entry);
                    take(entry.build(), stream);
                }
            }
        }

        private int eventLength() {
            int begin = unread.readerIndex();
            for (int i = begin + searched; i < unread.writerIndex() - 1; i++) {
                if (unread.getByte(i) == '\n' && unread.getByte(i + 1) == '\n') {
                    searched = 0;
                    return i - begin;
                }
            }
            searched = Math.max(0, unread.readableBytes() - 1);
            return -1;
        }

        private void take(Entry entry, Channel stream) {
            taken++;
            if (!feed.outcome.isDone() && feed.take(entry)) {
                cancel(feed, stream);
            }
        }

        private static StatusCode codeIn(String text) {
            Matcher grpc = GRPC_STATUS.matcher(text);
            if (grpc.find()) {
                return StatusCode.values()[Integer.parseInt(grpc.group(1))];
            }
            Matcher connect = CODE.matcher(text);
            if (!connect.find()) {
                return StatusCode.OK;
            }
            String name = connect.group(1).toUpperCase(Locale.ROOT);
            return name.equals("CANCELED") ? StatusCode.CANCELLED : StatusCode.valueOf(name);
        }

        private void endIf(boolean ended) {
            if (!ended || feed.outcome.isDone()) {
                return;
            }
            if (whole) {
                end = codeIn(unread.toString(UTF_8));
            } else if (unread.isReadable()) {
                feed.fault("the answer ends within a message");
            }
            StatusCode told = end;
            if (told == null && form != Form.EVENTS) {
                feed.fault("the answer ends without a status");
            }
            feed.ended(told == null ? StatusCode.OK : told);
        }

        @Override
        public void channelReadComplete(ChannelHandlerContext context) {
            if (!context.channel().config().isAutoRead() && !feed.outcome.isDone()) {
                feed.askNext(context::read);
            }
        }

        @Override
        public void userEventTriggered(ChannelHandlerContext context, Object event) {
            if (event instanceof Http2ResetFrame frame) {
                try {
                    reset(context.channel(), frame.errorCode());
                } finally {
                    ReferenceCountUtil.release(event);
                }
            }
        }

        /**
         * Handles a reset. A complete answer remains valid if a reset with NO_ERROR follows it (RFC 9113, 8.1). The
         * bytes of this answer must be read immediately, because Netty would otherwise drop them.
         */
        private void reset(Channel stream, long error) {
            if (error == Http2Error.NO_ERROR.code()) {
                stream.config().setAutoRead(true);
            } else if (!feed.outcome.isDone()) {
                feed.fault("the server reset the stream with error " + error);
                feed.ended(StatusCode.UNAVAILABLE);
            }
        }

        @Override
        public void channelInactive(ChannelHandlerContext context) {
            if (!feed.outcome.isDone()) {
                feed.fault("the stream was closed after " + taken + " answers");
                feed.ended(StatusCode.UNAVAILABLE);
            }
        }
    }
}
