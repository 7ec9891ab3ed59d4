package tern.rpc.netty.triple;

import io.netty.handler.codec.http2.Http2Settings;
import org.jspecify.annotations.Nullable;

/** The settings that an HTTP/2 server sends to its clients. Thread-safe. */
final class AnnouncedSettings {

    /** The maximum size of a request's headers in bytes, as docs/wire-protocol.md 3.1 specifies. */
    static final int HEADER_LIST_BYTES = 32 << 10;

    private volatile @Nullable Http2Settings last;

    /**
     * Returns the settings that limit the number of concurrent streams to the given maximum. All connections with the
     * same limit share one immutable object, because Netty keeps a reference to the settings for each connection.
     */
    Http2Settings of(int maxStreams) {
        Http2Settings known = last;
        Long announced = known == null ? null : known.maxConcurrentStreams();
        if (known == null || announced == null || announced != maxStreams) {
            known = Http2Settings.defaultSettings()
                    .maxConcurrentStreams(maxStreams)
                    .initialWindowSize(ReceiveWindows.STREAM_BYTES)
                    .maxHeaderListSize(HEADER_LIST_BYTES);
            last = known;
        }
        return known;
    }
}
