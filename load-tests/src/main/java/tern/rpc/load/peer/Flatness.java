package tern.rpc.load.peer;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.ToDoubleFunction;

/**
 * Checks whether a process's use of resources stays constant during a long run (promise R21 in
 * docs/figures/promises.md). Memory is allowed to grow by at most 1 MB in 10 minutes, or by at most 1 MB in the whole
 * run if the run is shorter. The numbers of threads and descriptors must not grow. The first tenth of the samples is
 * ignored, because pools and caches fill during that time.
 */
final class Flatness {

    private static final double MEGABYTE = 1e6;
    private static final double MAX_MEGABYTES = 1;
    private static final double MINUTES = 10;
    private static final double LESS_THAN_ONE = 0.5;

    /**
     * The resources that the process held at a given time.
     *
     * @param minutes the time since the start of the run
     */
    record Sample(double minutes, Resources held) {}

    /**
     * The verdict on one resource.
     *
     * @param flat whether the resource grew by no more than its limit
     */
    record Verdict(String what, String growth, boolean flat) {}

    private final List<Sample> samples;

    Flatness(List<Sample> all) {
        this.samples = List.copyOf(all.subList(Math.min(all.size(), (all.size() + 9) / 10), all.size()));
    }

    List<Verdict> verdicts() {
        List<Verdict> verdicts = new ArrayList<>();
        verdicts.add(memory("heap after collection", Resources::heapBytes));
        verdicts.add(memory("old generation after collection", Resources::oldBytes));
        verdicts.add(memory("direct buffers", Resources::directBytes));
        verdicts.add(memory("Netty's buffers", Resources::pooledBytes));
        verdicts.add(count("threads", Resources::threads));
        verdicts.add(count("open descriptors", Resources::descriptors));
        verdicts.add(fullCollections());
        return verdicts;
    }

    private Verdict memory(String what, ToDoubleFunction<Resources> figure) {
        double minutes = Math.min(MINUTES, minutes());
        double grown = slope(figure).over(minutes) / MEGABYTE;
        return new Verdict(
                what,
                String.format(Locale.ROOT, "%+.2f MB in %.1f min, at most %+.0f", grown, minutes, MAX_MEGABYTES),
                grown <= MAX_MEGABYTES);
    }

    /**
     * Judges a count that fluctuates, such as the number of threads. The regression line must rise by less than 0.5
     * over the whole run.
     */
    private Verdict count(String what, ToDoubleFunction<Resources> figure) {
        double grown = slope(figure).over(minutes());
        return new Verdict(
                what,
                String.format(Locale.ROOT, "%+.2f in the whole run, less than one half allowed", grown),
                grown < LESS_THAN_ONE);
    }

    private double minutes() {
        return samples.isEmpty()
                ? 0
                : samples.get(samples.size() - 1).minutes() - samples.get(0).minutes();
    }

    private Verdict fullCollections() {
        long seen = samples.isEmpty()
                ? 0
                : samples.get(samples.size() - 1).held().fullCollections()
                        - samples.get(0).held().fullCollections();
        return new Verdict("collections of the old generation", seen + ", none allowed", seen == 0);
    }

    private Slope slope(ToDoubleFunction<Resources> figure) {
        return Slope.of(
                samples.stream().mapToDouble(Sample::minutes).toArray(),
                samples.stream()
                        .mapToDouble(sample -> figure.applyAsDouble(sample.held()))
                        .toArray());
    }
}
