package tern.rpc.diagnosis.account;

import java.util.Locale;
import java.util.Set;

/** Classifies Redis commands by the time that they take. */
public final class RedisCommands {

    /**
     * The commands that occupy their connection while they wait for data. The list also contains method names of Spring
     * Data, because Spring Data reports them as command names.
     */
    private static final Set<String> BLOCKING = Set.of(
            "BLPOP",
            "BRPOP",
            "BLMOVE",
            "BLMPOP",
            "BRPOPLPUSH",
            "BZPOPMIN",
            "BZPOPMAX",
            "BZMPOP",
            "XREAD",
            "XREADGROUP",
            "WAIT",
            "SUBSCRIBE",
            "PSUBSCRIBE",
            "SSUBSCRIBE",
            "MONITOR");

    /**
     * The Redis commands whose duration grows with the data or with the script. Redis executes only one command at a
     * time.
     */
    private static final Set<String> STOPPING =
            Set.of("KEYS", "FLUSHALL", "FLUSHDB", "SAVE", "SORT", "EVAL", "EVALSHA", "FCALL", "DEBUG");

    /** The Redis commands that usually take a long time even if the server and the network are fast. */
    private static final Set<String> ALWAYS_SLOW = Set.of("KEYS", "FLUSHALL", "FLUSHDB");

    /** The Redis commands that take constant time, and transfer only one value. */
    private static final Set<String> CONSTANT = Set.of(
            "GET",
            "EXISTS",
            "TTL",
            "PTTL",
            "TYPE",
            "STRLEN",
            "INCR",
            "INCRBY",
            "DECR",
            "DECRBY",
            "SETNX",
            "EXPIRE",
            "PEXPIRE",
            "HGET",
            "HEXISTS",
            "HINCRBY",
            "HLEN",
            "LLEN",
            "SCARD",
            "SISMEMBER",
            "ZCARD",
            "ZSCORE",
            "PING");

    /** The Redis commands that read a collection as a whole, or as much of it as their arguments say. */
    private static final Set<String> WHOLE = Set.of(
            "KEYS",
            "HGETALL",
            "HKEYS",
            "HVALS",
            "SMEMBERS",
            "SUNION",
            "SINTER",
            "SDIFF",
            "LRANGE",
            "ZRANGE",
            "ZREVRANGE",
            "ZRANGEBYSCORE",
            "ZREVRANGEBYSCORE",
            "XRANGE",
            "SORT",
            "MGET",
            "HMGET");

    private RedisCommands() {}

    /** Returns whether the reply of the command with the given name can be as large as a whole collection. */
    public static boolean readsAll(String command) {
        return WHOLE.contains(command.split(" ", 2)[0].toUpperCase(Locale.ROOT));
    }

    /** Returns whether the command with the given name blocks the Redis server for a long time. */
    public static boolean stopsServer(String command) {
        return STOPPING.contains(command.split(" ", 2)[0].toUpperCase(Locale.ROOT));
    }

    /** Returns whether the command with the given name can wait until data arrives. */
    public static boolean isBlocking(String command) {
        return BLOCKING.contains(command.split(" ", 2)[0].toUpperCase(Locale.ROOT));
    }

    /** Returns whether the command usually takes a long time even if the server and the network are fast. */
    public static boolean isAlwaysSlow(String verb) {
        return ALWAYS_SLOW.contains(verb);
    }

    /** Returns whether the command takes constant time and transfers only one value. */
    public static boolean isConstant(String verb) {
        return CONSTANT.contains(verb);
    }
}
