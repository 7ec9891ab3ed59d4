package tern.rpc.load.replay;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;

/** Facts about the machine and the software, which are printed with the measured values. */
public final class Facts {

    private Facts() {}

    public static Map<String, String> ofMachine() {
        Map<String, String> facts = new LinkedHashMap<>();
        facts.put("processors", Runtime.getRuntime().availableProcessors() + " (" + processorModel() + ")");
        facts.put(
                "system",
                System.getProperty("os.name") + " " + System.getProperty("os.version") + ", "
                        + System.getProperty("os.arch"));
        facts.put("JDK", Runtime.version().toString());
        facts.put("load average at the start", loadAverage());
        return facts;
    }

    /** Returns the load average of the last minute, or "unknown" if there is none. */
    public static String loadAverage() {
        double load = ManagementFactory.getOperatingSystemMXBean().getSystemLoadAverage();
        return load < 0 ? "unknown" : String.format(Locale.ROOT, "%.1f", load);
    }

    private static String processorModel() {
        try (var lines = Files.lines(Path.of("/proc/cpuinfo"))) {
            return lines.filter(line -> line.startsWith("model name"))
                    .findFirst()
                    .map(line -> line.substring(line.indexOf(':') + 1).strip())
                    .orElse("model unknown");
        } catch (IOException e) {
            return "model unknown"; // The model is unknown, because the file exists only on Linux.
        }
    }
}
