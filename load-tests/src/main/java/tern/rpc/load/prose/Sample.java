package tern.rpc.load.prose;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * Selects random comments from the Java sources and random sentences from the documentation.
 * {@code load-tests/prose SEED} runs it. The same sources and seed give the same sample. The class is a single file and
 * uses only the JDK, so that {@code java Sample.java SEED ROOT} runs it without a build.
 */
public final class Sample {

    private static final int COMMENTS = 100;
    private static final int SENTENCES = 50;

    /**
     * The minimum number of words. Shorter comments are ignored, because they are often section titles and not
     * sentences.
     */
    private static final int MIN_WORDS = 4;

    /**
     * Matches literals or comments. A literal is matched first, so that {@code //} inside it does not start a comment.
     */
    private static final Pattern TOKENS =
            Pattern.compile("\"\"\"[\\s\\S]*?(?<!\\\\)\"\"\"" + "|\"(?:\\\\.|[^\"\\\\\n])*\""
                    + "|'(?:\\\\.|[^'\\\\\n])+'" + "|(/\\*[\\s\\S]*?\\*/)" + "|(?<=\\S )(//[^\n]*)"
                    + "|((?://[^\n]*(?:\n[ \t]*(?=//))?)+)");

    private static final Pattern SENTENCE_END = Pattern.compile("(?<=[.?!])\\s+(?=[\"`*\\[A-Z])");

    private Sample() {}

    public static void main(String[] arguments) throws IOException {
        long seed = Long.parseLong(arguments[0]);
        Path root = Path.of(arguments.length < 2 ? "." : arguments[1]);
        print("Comments", draw(comments(root), COMMENTS, seed));
        print("Sentences", draw(sentences(root), SENTENCES, seed));
    }

    private static void print(String title, List<String> drawn) {
        System.out.println("# " + title);
        for (int i = 0; i < drawn.size(); i++) {
            System.out.println((i + 1) + ". " + drawn.get(i));
        }
    }

    static List<String> draw(List<String> all, int count, long seed) {
        List<String> shuffled = new ArrayList<>(all);
        Collections.shuffle(shuffled, new Random(seed));
        return shuffled.subList(0, Math.min(count, shuffled.size()));
    }

    private static List<String> comments(Path root) throws IOException {
        List<String> all = new ArrayList<>();
        for (Path file : files(root, ".java")) {
            for (String comment : comments(Files.readString(file))) {
                all.add(comment + " [" + file.getFileName() + "]");
            }
        }
        return all;
    }

    /**
     * Returns the text of each comment as one line. Adjacent line comments count as one comment, unless code precedes
     * the first.
     */
    static List<String> comments(String source) {
        List<String> comments = new ArrayList<>();
        Matcher token = TOKENS.matcher(source);
        while (token.find()) {
            String comment = Stream.of(token.group(1), token.group(2), token.group(3))
                    .filter(Objects::nonNull)
                    .findFirst()
                    .orElse(null);
            if (comment != null) {
                addSentence(comments, text(comment));
            }
        }
        return comments;
    }

    private static String text(String comment) {
        return comment.replaceAll("^/\\*+|\\*/$", "").replaceAll("(?m)^\\s*(//|\\*)", "");
    }

    private static List<String> sentences(Path root) throws IOException {
        List<String> all = new ArrayList<>();
        for (Path file : files(root, ".md")) {
            for (String sentence : sentences(Files.readString(file))) {
                all.add(sentence + " [" + file.getFileName() + "]");
            }
        }
        return all;
    }

    /** Returns a page's sentences. Code blocks, titles and tables are ignored. */
    static List<String> sentences(String page) {
        List<String> sentences = new ArrayList<>();
        String text = page.replaceAll("(?ms)^ *```.*?^ *```", "\n").replaceAll("(?m)^ *[#|!<].*$", "\n");
        for (String paragraph : text.split("\n *(?:\n|(?=- |\\d+\\. ))")) {
            String line = paragraph.replaceFirst("^\\s*(?:- |\\d+\\. )", "").replaceAll("\\s+", " ");
            Arrays.stream(SENTENCE_END.split(line)).forEach(sentence -> addSentence(sentences, sentence));
        }
        return sentences;
    }

    private static void addSentence(List<String> sentences, String text) {
        String line = text.strip().replaceAll("\\s+", " ");
        if (line.split(" ").length >= MIN_WORDS) {
            sentences.add(line);
        }
    }

    /**
     * Returns the project's files, sorted by path, so that the sample depends only on the sources and the seed.
     */
    private static List<Path> files(Path root, String ending) throws IOException {
        try (Stream<Path> files = Files.walk(root)) {
            return files.filter(file -> file.toString().endsWith(ending) && isSource(root.relativize(file)))
                    .sorted()
                    .toList();
        } catch (UncheckedIOException vanished) {
            throw vanished.getCause();
        }
    }

    private static boolean isSource(Path file) {
        String path = "/" + file.toString().replace('\\', '/');
        return !path.contains("/target/") && !path.contains("/.") && !path.contains("/node_modules/");
    }
}
