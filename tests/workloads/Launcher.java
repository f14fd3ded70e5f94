// Stands in for Nextflow, which is not packaged: a JVM of that main class that starts .command.run
// in each folder of a list, some at a time, and runs one that failed again in the folder after it.
package nextflow.cli;

import java.io.File;
import java.nio.file.Files;
import java.util.ArrayDeque;
import java.util.List;

public class Launcher {
    private static int run(String folder) throws Exception {
        File null_ = new File("/dev/null");
        return new ProcessBuilder("/bin/bash", "-ue", ".command.run").directory(new File(folder))
            .redirectInput(null_).redirectOutput(null_).redirectError(null_).start().waitFor();
    }

    // Lines "FOLDER" or "FOLDER RETRY-FOLDER".
    private static void work(ArrayDeque<String> queue) {
        try {
            for (;;) {
                String line;
                synchronized (queue) {
                    line = queue.poll();
                }
                if (line == null)
                    return;
                String[] folders = line.split(" ");
                if (run(folders[0]) != 0 && folders.length > 1)
                    run(folders[1]);
            }
        } catch (Exception failure) {
            failure.printStackTrace();
            System.exit(1);
        }
    }

    // run LIST
    public static void main(String[] arguments) throws Exception {
        List<String> lines = Files.readAllLines(new File(arguments[1]).toPath());
        ArrayDeque<String> queue = new ArrayDeque<>(lines);
        Thread[] threads = new Thread[4];
        for (int i = 0; i < threads.length; i++) {
            threads[i] = new Thread(() -> work(queue));
            threads[i].start();
        }
        for (Thread thread : threads)
            thread.join();
    }
}
