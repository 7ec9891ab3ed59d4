package tern.rpc.netty;

import com.sun.management.UnixOperatingSystemMXBean;
import java.lang.management.ManagementFactory;

/**
 * The number of connections for which the process has enough file descriptors. Every connection occupies a descriptor,
 * and a process without free descriptors can neither accept connections nor open files.
 *
 * @param connections the maximum number of connections; at most the configured number
 * @param leaving the maximum number of silent connections that the server closes at once to make room for new ones. The
 *     number of open connections can exceed the limit by this number
 * @param descriptors the number of descriptors that the process may open; {@link #UNKNOWN} if it is not known
 */
record DescriptorLimit(int connections, int leaving, long descriptors) {

    /** The value of {@link #descriptors} on systems that do not report the number of descriptors. */
    static final long UNKNOWN = Long.MAX_VALUE;

    private static final int MAX_LEAVING = 256;

    /** One in {@value} descriptors is reserved for files and for connections that this server did not accept. */
    private static final int RESERVED_SHARE = 4;

    /** Connections that are being closed use at most one in {@value} of the descriptors for connections. */
    private static final int LEAVING_SHARE = 8;

    /** One check closes at most a sixteenth of the number {@link #leaving}. */
    private static final int TOGETHER_SHARE = 16;

    /** @param configured the maximum number of connections in the settings */
    static DescriptorLimit of(int configured, long descriptors) {
        long most = descriptors - descriptors / RESERVED_SHARE;
        if (configured + (long) MAX_LEAVING <= most) {
            return new DescriptorLimit(configured, MAX_LEAVING, descriptors);
        }
        int leaving = (int) Math.max(1, Math.min(MAX_LEAVING, most / LEAVING_SHARE));
        return new DescriptorLimit((int) Math.max(1, Math.min(configured, most - leaving)), leaving, descriptors);
    }

    /**
     * Returns the number of silent connections that one check of all connections closes. The closed connections make
     * room for the same number of new connections. The number is small if few connections are permitted, because a
     * client that keeps connecting would occupy most of the freed places.
     */
    int together() {
        return Math.max(1, leaving / TOGETHER_SHARE);
    }

    /** Returns the number of descriptors that this process may open; {@link #UNKNOWN} if it is not known. */
    static long ofProcess() {
        if (ManagementFactory.getOperatingSystemMXBean() instanceof UnixOperatingSystemMXBean system) {
            long most = system.getMaxFileDescriptorCount();
            return most > 0 ? most : UNKNOWN;
        }
        return UNKNOWN;
    }
}
