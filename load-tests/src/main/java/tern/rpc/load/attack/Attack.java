package tern.rpc.load.attack;

import java.util.Arrays;
import java.util.function.Consumer;

/**
 * The attacks on a server. An attack comes from the address 127.0.0.2, or from 127.0.0.20 to 127.0.0.39 if it uses
 * several addresses.
 */
enum Attack {

    /** Keeps the maximum number of server streams open without enlarging their flow-control windows. */
    UNREAD_STREAMS("250 server streams without credit", true, Readers::unreadStreams),

    /** Sends the headers of requests, but never their messages. */
    OPEN_HEADERS("28 KB of headers on 900 streams each of 15 connections", true, PartialRequests::openHeaders),

    /** Sends only the first half of each message. */
    HALF_MESSAGES(
            "4,000 bytes of a message on 1,000 streams each of 128 connections", true, PartialRequests::halfMessages),

    /** Sends a few large messages, each only in part. */
    LARGE_HALF_MESSAGES(
            "60 KB of a message of 8 MiB on 100 streams each of 64 connections",
            true,
            PartialRequests::largeHalfMessages),

    /** Sends maps whose keys all have the same hash code. */
    EQUAL_HASHES("maps of 40,000 keys of equal hash by 4 connections", false, Contents::equalHashes),

    /** Sends small messages that decompress to large messages. */
    GZIP("8 KiB that unpack to 8 MiB, 50 at a time on each of 4 connections", true, Contents::gzip),

    /**
     * Behaves like a legitimate reader that enlarges the flow-control window after every frame. The server must not
     * disconnect this reader.
     */
    EAGER_CREDIT("an honest reader with two WINDOW_UPDATE for each DATA frame", true, Readers::eagerCredit),

    /** Makes one-way calls to a sleeping method. */
    ONE_WAY_SLEEPERS("one-way calls of 10 s, 200 at once and 50 a second by one connection", false, Sleepers::oneWay),

    /** Makes calls to a sleeping method, and resets the stream of each call after 5 ms. */
    RESET_SLEEPERS("calls of 10 s that are reset after 5 ms, by one connection", true, Sleepers::reset),

    /** Makes 50 concurrent calls to a sleeping method on each of several connections. */
    SLEEPERS("calls of 10 s, 50 at a time on each of 20 connections", true, Sleepers::ofOneAddress),

    /** Makes calls to a sleeping method from several addresses. */
    SLEEPERS_OF_ADDRESSES("calls of 10 s, 50 at a time from each of 8 addresses", true, Sleepers::ofAddresses),

    /** Opens connections without sending anything. */
    SILENT("8,190 silent connections from 8 addresses", true, Sockets::silentConnections),

    /** Sends the headers of HTTP/1.1 requests slowly and never ends them. */
    SLOW_HEADS("2,000 requests of HTTP/1.1 from 8 addresses, a header a second", false, Sockets::slowHeads),

    /** Makes calls and resets them immediately (CVE-2023-44487). */
    RAPID_RESET("calls that are reset at once, by 4 connections", true, Frames::rapidReset),

    /** Sends header blocks that never end (CVE-2024-27316). */
    CONTINUATIONS("CONTINUATION frames without an end, by 4 connections", true, Frames::continuations),

    /** Sends pings and does not read the responses (CVE-2019-9512). */
    UNREAD_PINGS("pings whose answers are not read, by 4 connections", true, Frames::unreadPings),

    /** Sends DATA frames without content (CVE-2019-9518). */
    EMPTY_DATA("empty DATA frames, by 4 connections", true, Frames::emptyData),

    /** Requests large answers and does not read them. */
    UNREAD_ANSWERS("answers of 8 MiB that are not read, 50 on each of 20 connections", true, Readers::unreadAnswers),

    /** Requests large answers over the dubbo protocol and does not read them. */
    UNREAD_DUBBO_ANSWERS(
            "answers of 8 MiB by dubbo that are not read, 50 on each of 20 connections",
            false,
            Readers::unreadDubboAnswers),

    /** Sends heartbeats over the dubbo protocol and does not read the responses. */
    UNREAD_HEARTBEATS(
            "heartbeats of dubbo whose answers are not read, by 4 connections", false, Readers::unreadHeartbeats),

    /** Makes calls with large requests and large answers, and reads all answers. */
    LARGE_REQUESTS(
            "texts of 8 MiB there and back, 5 at a time on each of 20 connections", true, Readers::largeRequests),

    /**
     * Makes the server's threads wait for slow readers of streams. The streams come from many addresses, with only a
     * few streams per address.
     */
    UNREAD_STREAMS_OF_ADDRESSES(
            "20 unread server streams on each of 40 connections from 20 addresses", true, Crowds::unreadStreams),

    /** Requests large answers and closes the connection without reading them. */
    LEAVING_READERS(
            "answers of 8 MiB by dubbo, 4 on each of 40 connections from 20 addresses that disconnect after 0.3 s",
            false,
            Crowds::leavingReaders),

    /** Opens streams of large messages from many addresses, and reads none of the messages. */
    UNREAD_BLOCKS(
            "5 unread streams of 1 MiB messages on each of 40 connections from 20 addresses",
            false,
            attacker -> Hoards.unread(attacker, "blocks", 5, false)),

    /**
     * Opens streams of one-byte messages from many addresses, and reads none of the messages. The objects of a message
     * take more memory than its bytes.
     */
    UNREAD_DRIPS(
            "250 unread streams of messages of one byte on each of 40 connections from 20 addresses",
            false,
            attacker -> Hoards.unread(attacker, "drips", 250, false)),

    /**
     * Opens streams of publishers from many addresses, and reads none of the messages. Waiting publishers occupy no
     * threads.
     */
    UNREAD_PUBLISHERS(
            "250 unread streams of publishers on each of 40 connections from 20 addresses",
            false,
            attacker -> Hoards.unread(attacker, "published", 250, false)),

    /** Grants large flow-control windows, but reads nothing from the socket. */
    UNREAD_SOCKETS(
            "20 server streams with open windows on each of 40 connections from 20 addresses that read nothing",
            false,
            attacker -> Hoards.unread(attacker, "feed", 20, true)),

    /** Reads one byte of each stream per second. */
    ONE_BYTE_READERS(
            "50 server streams on each of 40 connections from 20 addresses that read one byte per second",
            false,
            Hoards::oneByteReaders),

    /** Requests streams of events over HTTP/1.1, and reads nothing. */
    UNREAD_EVENTS("400 unread streams of JSON over HTTP/1.1 from 20 addresses", false, Hoards::unreadEvents),

    /** Sends streams of requests faster than the method handles them. */
    SLOW_RECEIVERS(
            "100 client streams on each of 40 connections from 20 addresses to a slow method",
            false,
            Hoards::slowReceivers),

    /** Makes the server create large results for dubbo calls and closes the connection without reading them. */
    LEAVING_DUBBO(
            "texts of 6 MB by dubbo, 4 on each of 80 connections from 20 addresses that disconnect at once",
            false,
            attacker -> Hoards.leaving(attacker, true)),

    /** Makes the server create large results for HTTP/1.1 calls and closes the connection without reading them. */
    LEAVING_HTTP(
            "texts of 6 MB by HTTP/1.1, on 80 connections from 20 addresses that disconnect after 0.1 s",
            false,
            attacker -> Hoards.leaving(attacker, false)),

    /** Makes the server create large lists, and reads them. */
    BIG_LISTS("lists of 250,000 objects by dubbo, 4 at a time from each of 20 addresses", false, Hoards::bigLists),

    /** Sends one-way calls to a slow method as fast as possible. */
    ONE_WAY_FLOOD(
            "2,000 one-way calls on each of 40 connections from 20 addresses that disconnect at once",
            false,
            Hoards::oneWayFlood),

    /** Sends JSON whose objects take much more memory than their text. */
    JSON_BOMBS(
            "JSON of 4 MiB with empty lists, endlessly from 20 addresses",
            false,
            attacker -> Hoards.json(attacker, "[]")),

    /** Sends JSON with numbers that take a lot of processor time. */
    JSON_NUMBERS(
            "JSON of 4 MiB with numbers of 99 digits, endlessly from 20 addresses",
            false,
            attacker -> Hoards.json(attacker, "9".repeat(99))),

    /** Sends HTTP/1.1 requests on one connection without waiting for answers, and never reads an answer. */
    PIPELINED("endless HTTP/1.1 requests on 20 connections, whose answers are not read", false, Floods::pipelined),

    /** Sends calls to a service that does not exist, as fast as the server reads them, and reads all answers. */
    TINY_CALLS("dubbo calls of 28 bytes to an unknown service, on 60 connections", false, Floods::tinyCalls),

    /** Sends messages in the smallest possible frames, as fast as the server reads them. */
    TINY_DATA("DATA frames of one byte on 6 connections with 10 streams each", true, Floods::tinyData),

    /** Sends bodies in the smallest possible chunks, as fast as the server reads them. */
    TINY_CHUNKS("HTTP/1.1 bodies in chunks of one byte, on 10 connections", false, Floods::tinyChunks),

    /** Sends frames that change settings and priorities (CVE-2019-9513, CVE-2019-9515). */
    CONTROL_FRAMES("SETTINGS and PRIORITY frames from 20 addresses", true, Frames::control),

    /** Sends requests without a message. */
    HEADERS_ONLY("requests of headers and trailers without a message, from 20 addresses", true, Frames::headersOnly),

    /** Makes calls whose deadlines have passed when they arrive. */
    TINY_DEADLINES("calls with a timeout of 1 ns, from 20 addresses", true, Frames::tinyDeadlines),

    /** Makes calls with large headers. */
    LARGE_METADATA("calls with 28 KB of headers, from 20 addresses", true, Frames::largeMetadata),

    /** Calls methods that do not exist. Each call uses a new name. */
    UNKNOWN_NAMES("calls of methods with new names of 500 characters, from 20 addresses", true, Frames::unknownNames),

    /** Sends values that are mostly references to other values. */
    REFERENCES("lists of a million references by dubbo, from 20 addresses", false, Contents::references),

    /** Sends objects of classes that do not exist. */
    UNKNOWN_CLASSES("objects of 200 new classes by dubbo, from 20 addresses", false, Contents::unknownClasses),

    /** Sends JSON with deeply nested lists. */
    NESTED_JSON(
            "JSON of 4 MiB with lists of depth 60, endlessly from 20 addresses",
            false,
            attacker -> Hoards.json(attacker, Contents.nested())),

    /** Sends large base64 bodies over gRPC-Web. The bodies contain only empty frames. */
    BASE64("base64 of 4 MiB with empty frames, from 20 addresses", false, Contents::base64),

    /** Sends chunk extensions, which the server must read and ignore. */
    CHUNK_EXTENSIONS(
            "HTTP/1.1 bodies with 7 KB of chunk extensions, from 20 addresses", false, Contents::chunkExtensions),

    /** Requests protocols that the server does not offer. */
    UPGRADES("requests for h2c, WebSocket and tunnels on new connections from 20 addresses", false, Contents::upgrades),

    /** Opens connections that send random bytes. */
    GARBAGE("new connections with random bytes from 20 addresses", false, Contents::garbage),

    /** Sends request bodies slowly. */
    SLOW_BODIES(
            "3,200 bodies of 8 MB by three protocols from 20 addresses, a byte a second", false, Contents::slowBodies);

    private final String what;
    private final boolean anyServer;

    @SuppressWarnings("ImmutableEnumChecker") // The lambdas are stateless, so the enum is immutable.
    private final Consumer<Attacker> way;

    /**
     * @param anyServer whether the attack also works against servers that support neither the dubbo protocol nor
     *     HTTP/1.1
     */
    Attack(String what, boolean anyServer, Consumer<Attacker> way) {
        this.what = what;
        this.anyServer = anyServer;
        this.way = way;
    }

    /** @param name the name on the command line, such as {@code unread-streams} */
    static Attack named(String name) {
        for (Attack attack : values()) {
            if (attack.title().equals(name)) {
                return attack;
            }
        }
        throw new IllegalArgumentException("attack '" + name + "' is not known; expected one of "
                + Arrays.stream(values()).map(Attack::title).toList());
    }

    String title() {
        return name().toLowerCase(java.util.Locale.ROOT).replace('_', '-');
    }

    String what() {
        return what;
    }

    boolean isForAnyServer() {
        return anyServer;
    }

    /**
     * Returns whether the legitimate callers open a new connection for each call, as during attacks that exhaust the
     * server's connections.
     */
    boolean takesConnections() {
        return this == SILENT;
    }

    /** Runs the attack until its time is up. */
    void run(Attacker attacker) {
        way.accept(attacker);
    }
}
