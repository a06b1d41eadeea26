"""What a declaration may get wrong, each as a sentence, before anything is served."""
